/** Everything that can be found out about one message alone; pure: the same message, the same finding. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Enrichment, Turn } from '../domain/facts.ts';
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';
import { UNWATCHED, type StepListener } from './step-listener.ts';
import type { Embedder } from './embed/embedder.ts';
import { detectGap } from './gaps.ts';
import { loadHead, type Head } from './heads.ts';
import { requestOf } from './request-sentence.ts';
import { detectSignals, loadSignalHeads, type SignalHeads } from './signals.ts';
import { LEXICON } from '../language/lexicon.ts';
import { analysedPart, fold } from '../language/normalise.ts';
import { alternatives } from '../language/patterns.ts';
import { contentOf } from './turn-kind.ts';

/**
 * Raised by one whenever rules change what a message is found to be: its kind, request, signals or gap;
 * whose turn it is by its role counts among them. Heads need no raise: `enrichmentId` holds their digest.
 */
export const ENRICHMENT_VERSION = 6;

export interface Enricher {
  /** One finding a turn, in order. What it says of a turn depends on that turn's role and content alone. */
  enrich(turns: readonly Pick<Turn, 'role' | 'content'>[]): Promise<Enrichment[]>;
}

/** The heads that an enricher needs. */
export interface Heads extends SignalHeads {
  readonly gap: Head;
}

/** Loads the heads that ship. Throws SetupError when they are absent or broken. */
export function loadHeads(directory?: string): Heads {
  return { ...loadSignalHeads(directory), gap: loadHead('gap', directory) };
}

/**
 * Names what decides findings: equal ids, equal findings for the same message and embedding model.
 * `<version>-<16 hex digits over the heads>`.
 */
export function enrichmentId({ sat, dsat, gap }: Heads): string {
  const digest = createHash('sha256').update([sat, dsat, gap].map((head) => head.digest).join(' '));
  return `${ENRICHMENT_VERSION}-${digest.digest('hex').slice(0, 16)}`;
}

export interface EnricherOptions {
  readonly embedder: Pick<Embedder, 'embed'>;
  /** How many vectors of recent requests, and findings of recent messages, are kept; 0 keeps none. What is found is the same either way. */
  readonly remembered?: number;
  /** Those that ship unless given. */
  readonly heads?: Heads;
  /** Told of each turn by its place among those given. */
  readonly steps?: StepListener;
}

const DEFAULT_REMEMBERED = 4096;
/** Longer messages (UTF-16 units) hardly ever come again. */
const REMEMBERED_LENGTH = 500;

type Finding = Omit<Enrichment, 'vector'>;

/** Makes an enricher over an embedder. Throws SetupError when the heads that ship cannot be used. */
export function createEnricher({
  embedder,
  remembered: capacity = DEFAULT_REMEMBERED,
  heads = loadHeads(),
  steps = UNWATCHED,
}: EnricherOptions): Enricher {
  const remembered = capacity > 0 ? new LRUCache<string, Float32Array>({ max: capacity }) : null;
  const found = capacity > 0 ? new LRUCache<string, Finding>({ max: capacity }) : null;

  function findingOf(turn: Pick<Turn, 'role' | 'content'>): Finding {
    if (found === null || turn.content.length > REMEMBERED_LENGTH) return find(turn, heads);
    const key = `${turn.role} ${turn.content}`;
    let finding = found.get(key);
    if (finding === undefined) {
      finding = find(turn, heads);
      found.set(key, finding);
    }
    return finding;
  }

  /** `requests`: each with the place of the turn that says it first. */
  async function vectorsOf(requests: ReadonlyMap<string, number>): Promise<Map<string, Float32Array>> {
    const vectors = new Map<string, Float32Array>();
    const missing: string[] = [];
    for (const request of requests.keys()) {
      const known = remembered?.get(request);
      if (known === undefined) missing.push(request);
      else vectors.set(request, known);
    }
    const made = await embedder.embed(missing, {
      onText: (place) => steps.onText(requests.get(missing[place] ?? '') ?? 0),
      onShared: () => steps.onShared(),
    });
    missing.forEach((request, i) => {
      const vector = made[i];
      if (vector === undefined) return;
      vectors.set(request, vector);
      remembered?.set(request, vector);
    });
    return vectors;
  }

  return {
    async enrich(turns) {
      const requests = new Map<string, number>();
      const findings = turns.map((turn, place) => {
        steps.onText(place);
        const finding = findingOf(turn);
        if (finding.request !== '' && !requests.has(finding.request)) requests.set(finding.request, place);
        return finding;
      });
      const vectors = await vectorsOf(requests);
      return findings.map((finding): Enrichment => {
        if (finding.kind !== 'request') return { ...finding, vector: null };
        const vector = vectors.get(finding.request);
        // No token of the request is known to the model: it cannot have a topic.
        if (vector === undefined || isZero(vector))
          return { ...finding, kind: 'reply', request: '', vector: null };
        return { ...finding, vector };
      });
    },
  };
}

function find(turn: Pick<Turn, 'role' | 'content'>, heads: Heads): Finding {
  switch (turn.role) {
    case 'user': {
      const text = analysedPart(turn.content);
      const signals = detectSignals(text, heads);
      const asked = requestOf(text);
      const request = isContentedRemark(asked, signals) ? '' : asked;
      return { kind: request === '' ? 'reply' : 'request', request, signals, gap: null };
    }
    case 'assistant':
      return {
        kind: 'none',
        request: '',
        signals: [],
        gap: detectGap(analysedPart(turn.content), heads.gap),
      };
    case 'other':
      return { kind: 'none', request: '', signals: [], gap: null };
  }
}

const PLEASE = LEXICON.please.all;
/** Asks for something, however short it is. `\b` knows Latin letters only: other scripts go without it. */
const ASKS = new RegExp(
  `[?？؟]|\\b(?:${alternatives(PLEASE.filter((phrase) => /[a-z]/.test(phrase)))})\\b|${alternatives(PLEASE.filter((phrase) => !/[a-z]/.test(phrase)))}`,
  'u',
);
const SATISFIED: ReadonlySet<SignalKey> = new Set(
  SIGNALS.filter(({ type }) => type === 'SAT').map(({ key }) => key),
);

/** A satisfied turn that asks nothing and says no more than a word ("Found it. Cheers") founds no topic. */
function isContentedRemark(request: string, signals: readonly SignalKey[]): boolean {
  if (request === '' || ASKS.test(request.toLowerCase())) return false;
  return signals.some((signal) => SATISFIED.has(signal)) && contentOf(fold(request)) <= 1;
}

function isZero(vector: Float32Array): boolean {
  for (const x of vector) if (x !== 0) return false;
  return true;
}
