/** Everything that can be found out about one message alone; pure: the same message, the same finding. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Enrichment } from '../../domain/facts.ts';
import { namesActionAndThing } from '../document/request-parts.ts';
import type { Embedder, TextReading } from '../embedding/embedder.ts';
import { findInEach, READ_TOGETHER, type Finding, type ReadTurn } from './finding.ts';
import { loadHeads, type Heads } from './heads.ts';
import { UNWATCHED, type StepListener } from '../embedding/step-listener.ts';

/**
 * Raised by one whenever rules change what a message is found to be: its kind, request, signals or gap;
 * whose turn it is by its role counts among them. The head needs no raise: `enrichmentId` holds its digest.
 */
export const ENRICHMENT_VERSION = 24;

export interface Enricher {
  /** One finding a turn, in order. What it says of a turn depends on that turn's role and content alone. */
  enrich(turns: readonly ReadTurn[]): Promise<Enrichment[]>;
}

/**
 * Names what decides findings: equal ids, equal findings for the same message and embedding model.
 * `<version>-<16 hex digits over the head>`.
 */
export function enrichmentId({ gap }: Heads): string {
  const digest = createHash('sha256').update(gap.digest);
  return `${ENRICHMENT_VERSION}-${digest.digest('hex').slice(0, 16)}`;
}

export interface EnricherOptions {
  readonly embedder: Pick<Embedder, 'read'>;
  /** How many vectors and findings are cached, each; 0: none. What is found is the same either way. */
  readonly cached?: number;
  /** Those that ship unless given. */
  readonly heads?: Heads;
  /** Told of each turn by its place among those given. */
  readonly steps?: StepListener;
}

const DEFAULT_CACHED = 4096;
/** Findings of longer messages (UTF-16 units) are not cached: they hardly ever come again. */
const CACHED_LENGTH = 500;

/** Makes an enricher over an embedder. Throws SetupError when the heads that ship cannot be used. */
export function createEnricher({
  embedder,
  cached = DEFAULT_CACHED,
  heads = loadHeads(),
  steps = UNWATCHED,
}: EnricherOptions): Enricher {
  const readingCache = cached > 0 ? new LRUCache<string, TextReading>({ max: cached }) : null;
  const findingCache = cached > 0 ? new LRUCache<string, Finding>({ max: cached }) : null;

  /** Of the turns from `from` on, at most READ_TOGETHER: each text is read once. */
  function findingsOf(turns: readonly ReadTurn[], from: number): Finding[] {
    const together = turns.slice(from, from + READ_TOGETHER);
    const keys = together.map(({ role, content }) => `${role} ${content}`);
    const found = new Map<string, Finding>();
    const missing = new Map<string, number>();
    for (const [index, key] of keys.entries()) {
      const known = findingCache?.get(key);
      if (known !== undefined) found.set(key, known);
      else if (!missing.has(key)) missing.set(key, index);
    }
    const places = [...missing.values()];
    const read = findInEach(
      places.map((index) => together[index] as ReadTurn),
      heads,
      (place) => steps.onText(from + (places[place] ?? 0)),
    );
    for (const [place, key] of [...missing.keys()].entries()) {
      const finding = read[place] as Finding;
      found.set(key, finding);
      if (key.length <= CACHED_LENGTH) findingCache?.set(key, finding);
    }
    return keys.map((key) => found.get(key) as Finding);
  }

  /** `requests`: texts, each with the place of the turn that says it first. */
  async function readingsOf(requests: ReadonlyMap<string, number>): Promise<Readings> {
    const readings = new Map<string, TextReading>();
    const missing: string[] = [];
    for (const request of requests.keys()) {
      const known = readingCache?.get(request);
      if (known === undefined) missing.push(request);
      else readings.set(request, known);
    }
    const made = await embedder.read(missing, {
      onText: (place) => steps.onText(requests.get(missing[place] ?? '') ?? 0),
      onShared: () => steps.onShared(),
    });
    made.forEach((reading, i) => {
      const request = missing[i] ?? '';
      readings.set(request, reading);
      readingCache?.set(request, reading);
    });
    return readings;
  }

  return {
    async enrich(turns) {
      const findings: Finding[] = [];
      for (let from = 0; from < turns.length; from += READ_TOGETHER)
        findings.push(...findingsOf(turns, from));
      const requests = new Map<string, number>();
      for (const [place, finding] of findings.entries())
        for (const text of embeddedTexts(finding)) if (!requests.has(text)) requests.set(text, place);
      const readings = await readingsOf(requests);
      return findings.map((finding) => withReadings(finding, readings));
    },
  };
}

/** By text. */
type Readings = ReadonlyMap<string, TextReading>;

/** What is missing, or the request, and each sentence of several: any of them may turn out to say nothing about it. */
function embeddedTexts({ kind, request, sentences, gap }: Finding): readonly string[] {
  if (gap !== null && gap.words !== '') return [gap.words];
  if (kind !== 'request') return [];
  return sentences.length < 2 ? [request] : [request, ...sentences.map(({ text }) => text)];
}

function withReadings(finding: Finding, readings: Readings): Enrichment {
  const vectorOf = (text: string): Float32Array | null => readings.get(text)?.vector ?? null;
  const gap = finding.gap === null ? null : { ...finding.gap, vector: saying(vectorOf(finding.gap.words)) };
  if (finding.kind !== 'request') return { ...finding, gap, vector: null, sentences: [] };
  const vector = saying(vectorOf(finding.request));
  // No token of the request is known to the model: it cannot have a topic.
  if (vector === null) return { ...finding, gap, kind: 'reply', request: '', vector: null, sentences: [] };
  const { sentences } = finding;
  const isOnly = sentences.length < 2;
  const isUnfamiliar =
    readings.get(finding.request)?.isFamiliar === false && !namesActionAndThing(finding.request);
  return {
    ...finding,
    gap,
    vector,
    ...(isUnfamiliar ? { isUnfamiliar } : {}),
    sentences: sentences.map((sentence) => ({
      ...sentence,
      vector: isOnly ? null : vectorOf(sentence.text),
    })),
  };
}

/** null for a vector of zeros: the model knows no token of the text. */
function saying(vector: Float32Array | null): Float32Array | null {
  return vector === null || vector.every((x) => x === 0) ? null : vector;
}
