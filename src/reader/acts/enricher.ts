/**
 * Enriches messages: finds everything that one message says on its own. Keeps the invariant that a finding depends on
 * the message's role and content alone, so equal messages get equal findings.
 *
 * Test: test/reader/acts/enricher.test.ts.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Enrichment } from '../../domain/facts.ts';
import { namesActionAndThing } from '../document/request-parts.ts';
import type { Embedder, TextReading } from '../embedding/embedder.ts';
import { findInEach, READ_TOGETHER, type Finding, type ReadTurn } from './finding.ts';
import { loadHeads, type Heads } from './heads.ts';
import { UNWATCHED, type StepListener } from '../embedding/step-listener.ts';

/**
 * Version of enrich. Raise it whenever rules change what is found in a message: its kind, request, signals or gap, or
 * how its role is read. A new head needs no raise: `enrichmentId` holds its digest.
 */
export const ENRICHMENT_VERSION = 26;

export interface Enricher {
  /** Returns one finding per turn, in order. Each depends on that turn's role and content alone. */
  enrich(turns: readonly ReadTurn[]): Promise<Enrichment[]>;
}

/**
 * Identifies what decides findings: equal ids give equal findings for the same message and embedding model. Format:
 * `<version>-<16 hex digits over the head>`.
 */
export function enrichmentId({ gap }: Heads): string {
  const digest = createHash('sha256').update(gap.digest);
  return `${ENRICHMENT_VERSION}-${digest.digest('hex').slice(0, 16)}`;
}

export interface EnricherOptions {
  readonly embedder: Pick<Embedder, 'read'>;
  /** Number of vectors and of findings that are cached; 0 for none. Caching changes no result. */
  readonly cached?: number;
  /** Default: the shipped heads. */
  readonly heads?: Heads;
  /** Called at each turn with its index in `turns`. */
  readonly steps?: StepListener;
}

const DEFAULT_CACHED = 4096;
/** Longest message whose finding is cached, UTF-16 units; longer ones hardly ever recur. */
const CACHED_LENGTH = 500;

/** Makes an enricher over an embedder. Throws SetupError if the shipped heads cannot be used. */
export function createEnricher({
  embedder,
  cached = DEFAULT_CACHED,
  heads = loadHeads(),
  steps = UNWATCHED,
}: EnricherOptions): Enricher {
  const readingCache = cached > 0 ? new LRUCache<string, TextReading>({ max: cached }) : null;
  const findingCache = cached > 0 ? new LRUCache<string, Finding>({ max: cached }) : null;

  /** The findings of the turns from `from` on, at most READ_TOGETHER; equal turns are read once. */
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

  /** `requests`: texts, each with the index of the turn that says it first. */
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

/** Readings by text. */
type Readings = ReadonlyMap<string, TextReading>;

/**
 * The texts to embed: what is missing, or the request and each of its sentences if there are several. Any sentence may
 * turn out to be templates.
 */
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
  // The model knows no token of the request, so the request cannot have a topic.
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

/** Turns a vector of zeros into null: the model knows no token of the text. */
function saying(vector: Float32Array | null): Float32Array | null {
  return vector === null || vector.every((x) => x === 0) ? null : vector;
}
