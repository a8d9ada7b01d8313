/** Whether a model does what it must, and how well and fast it does it here. */
import { existsSync } from 'node:fs';
import { loadEmbedder, type Embedder, type LoadedEmbedder } from '../turns/embed/embedder.ts';
import { REQUESTS } from '../turns/embed/calibration.ts';
import type { ModelLocation } from '../turns/embed/model-location.ts';
import { damagesOf, readManifest } from './manifest.ts';

export interface LanguageTrial {
  readonly language: string;
  /** Mean cosine with the same requests in English; for English null. */
  readonly same: number | null;
  /** Mean cosine of different requests. */
  readonly different: number;
  /** Of its requests, the share whose nearest English request means the same; for English null. */
  readonly found: number | null;
}

export interface SpeedTrial {
  readonly batch: number;
  /** Words of each text. */
  readonly words: number;
  readonly messagesPerSecond: number;
}

export interface Trial {
  readonly embedder: LoadedEmbedder;
  readonly loadMs: number;
  readonly languages: readonly LanguageTrial[];
  readonly speeds: readonly SpeedTrial[];
  /** What is wrong; none: the model can be used. */
  readonly faults: readonly string[];
}

export interface TrialOptions extends ModelLocation {
  /** How long each speed is measured, milliseconds. Default 700. */
  readonly measureMs?: number;
}

const MEASURE_MS = 700;
const BATCHES = [1, 32, 256] as const;
const LENGTHS = [8, 30] as const;

/**
 * Loads a model and tries it. The embedder is open: close it. Throws SetupError when it cannot be loaded.
 */
export async function tryModel({ measureMs = MEASURE_MS, ...location }: TrialOptions): Promise<Trial> {
  const startedAt = performance.now();
  const embedder = await loadEmbedder(location);
  const loadMs = performance.now() - startedAt;
  const manifest = existsSync(embedder.folder.path) ? readManifest(embedder.folder.path) : null;
  const faults = [
    ...(manifest === null ? [] : await damagesOf(embedder.folder.path, manifest)),
    ...(await vectorFaults(embedder)),
    ...(await batchFaults(embedder, location)),
  ];
  return {
    embedder,
    loadMs,
    languages: await tryLanguages(embedder),
    speeds: faults.length > 0 ? [] : await measure(embedder, measureMs),
    faults,
  };
}

/** What is wrong with the vectors of a few texts, a phrase each. */
export async function vectorFaults(embedder: Pick<Embedder, 'embed' | 'dimensions'>): Promise<string[]> {
  const vectors = await embedder.embed(REQUESTS['en'] ?? []);
  const faults: string[] = [];
  if (vectors.some((vector) => vector.length !== embedder.dimensions))
    faults.push('its vectors have different lengths');
  if (
    vectors.some(
      (vector) => vector.some((x) => !Number.isFinite(x)) || Math.abs(dot(vector, vector) - 1) > 1e-4,
    )
  )
    faults.push('its vectors are not of unit length');
  else if (vectors.some((vector, i) => vectors.slice(0, i).some((other) => dot(vector, other) > 1 - 1e-6)))
    faults.push('different texts have the same vector');
  return faults;
}

/** Whether the same texts get the same bits in batches of every size, and after the model is loaded again. */
async function batchFaults(embedder: Embedder, location: ModelLocation): Promise<string[]> {
  const all = sampleTexts(256);
  const whole = await embedder.embed(all);
  const faults: string[] = [];
  for (const size of [1, 32]) {
    const made: Float32Array[] = [];
    for (let i = 0; i < all.length; i += size) made.push(...(await embedder.embed(all.slice(i, i + size))));
    if (!made.every((vector, i) => sameBits(vector, whole[i])))
      faults.push(`a text's vector in batches of ${size} differs from that in one of ${all.length}`);
  }
  const again = await loadEmbedder(location);
  try {
    const made = await again.embed(all.slice(0, 32));
    if (again.id !== embedder.id || !made.every((vector, i) => sameBits(vector, whole[i])))
      faults.push('loaded again, it gives other vectors');
  } finally {
    await again.close();
  }
  return faults;
}

async function tryLanguages(embedder: Embedder): Promise<LanguageTrial[]> {
  const english = await embedder.embed(REQUESTS['en'] ?? []);
  const trials: LanguageTrial[] = [];
  for (const [language, requests] of Object.entries(REQUESTS)) {
    const vectors = await embedder.embed(requests);
    const others = vectors.flatMap((vector, i) => vectors.slice(0, i).map((other) => dot(vector, other)));
    const same = vectors.map((vector, i) => dot(vector, english[i]));
    const found = vectors.filter((vector, i) =>
      english.every((other, j) => i === j || dot(vector, other) < (same[i] ?? 0)),
    );
    trials.push({
      language,
      same: language === 'en' ? null : mean(same),
      different: mean(others),
      found: language === 'en' ? null : found.length / vectors.length,
    });
  }
  return trials;
}

async function measure(embedder: Embedder, measureMs: number): Promise<SpeedTrial[]> {
  const speeds: SpeedTrial[] = [];
  for (const words of LENGTHS) {
    const texts = sampleTexts(256, words);
    for (const batch of BATCHES) {
      await embedder.embed(texts.slice(0, Math.min(batch, 8)));
      const startedAt = performance.now();
      let done = 0;
      let elapsed = 0;
      while (elapsed < measureMs) {
        const at = done % texts.length;
        done += (await embedder.embed(texts.slice(at, at + batch))).length;
        elapsed = performance.now() - startedAt;
      }
      speeds.push({ batch, words, messagesPerSecond: (done / elapsed) * 1000 });
    }
  }
  return speeds;
}

/** Texts of the requests' words in many orders: about `words` each, or of 1 to 40. */
function sampleTexts(count: number, words?: number): string[] {
  const known = Object.values(REQUESTS).flatMap((requests) =>
    requests.flatMap((request) => request.split(' ')),
  );
  return Array.from({ length: count }, (_, i) =>
    Array.from(
      { length: words ?? 1 + ((i * 7) % 40) },
      (__, j) => known[(i * 13 + j * 5 + Math.floor(i / 11)) % known.length],
    ).join(' '),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function dot(a: Float32Array, b: Float32Array | undefined): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b?.[i] ?? 0);
  return sum;
}

function sameBits(a: Float32Array, b: Float32Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}
