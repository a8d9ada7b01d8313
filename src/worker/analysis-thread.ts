/** What a thread of `AnalysisPool` runs: enriches messages, and assigns those of its own instances. */
import { parentPort, workerData } from 'node:worker_threads';
import { Assigner } from '../assign/assigner.ts';
import type { Assignment, Enrichment, StateRow, Turn } from '../domain/facts.ts';
import { loadEmbedder } from '../enrich/embedder.ts';
import { createEnricher, type Enricher } from '../enrich/enricher.ts';
import { detectLanguage } from '../enrich/language.ts';

/** What a thread starts with. */
export interface ThreadData {
  readonly model: string;
  readonly modelsDirectory: string;
}

/** Findings as they travel: vectors lie in one array, each at its place, or −1 for none. */
export interface PackedEnrichments {
  readonly findings: readonly Omit<Enrichment, 'vector'>[];
  readonly places: Int32Array;
  readonly vectors: Float32Array<ArrayBuffer>;
}

export type ThreadRequest =
  | { readonly kind: 'enrich'; readonly turns: readonly Pick<Turn, 'role' | 'content'>[] }
  | {
      readonly kind: 'assign';
      readonly instances: readonly {
        readonly instance: number;
        readonly id: string;
        readonly rows: readonly StateRow[];
      }[];
      readonly sessions: readonly {
        readonly instance: number;
        readonly session: number;
        readonly value: Uint8Array | null;
      }[];
      readonly turns: readonly Turn[];
      readonly enrichments: PackedEnrichments;
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'close' };

export interface Assigned {
  readonly assignment: Assignment;
  readonly state: readonly StateRow[];
}

/** `id` is that of the request. */
export type ThreadReply =
  | { readonly id: number; readonly result: PackedEnrichments | Assigned | null }
  | { readonly id: number; readonly error: string };

export function pack(enrichments: readonly Enrichment[]): PackedEnrichments {
  const places = new Int32Array(enrichments.length).fill(-1);
  let length = 0;
  enrichments.forEach(({ vector }, index) => {
    if (vector === null) return;
    places[index] = length;
    length += vector.length;
  });
  const vectors = new Float32Array(length);
  const findings = enrichments.map(({ vector, ...finding }, index) => {
    if (vector !== null) vectors.set(vector, places[index]);
    return finding;
  });
  return { findings, places, vectors };
}

export function unpack({ findings, places, vectors }: PackedEnrichments, dimensions: number): Enrichment[] {
  return findings.map((finding, index) => {
    const place = places[index] ?? -1;
    return { ...finding, vector: place < 0 ? null : vectors.slice(place, place + dimensions) };
  });
}

if (parentPort !== null) {
  const port = parentPort;
  const { model, modelsDirectory } = workerData as ThreadData;
  const embedder = await loadEmbedder({ model, modelsDirectory });
  const { thresholds, dimensions } = embedder;
  const enricher: Enricher = createEnricher({ embedder });
  const assigner = new Assigner({ thresholds, dimensions, detectLanguage });

  const answer = async (request: ThreadRequest): Promise<PackedEnrichments | Assigned | null> => {
    switch (request.kind) {
      case 'enrich':
        return pack(await enricher.enrich(request.turns));
      case 'assign': {
        for (const { instance, id, rows } of request.instances) assigner.restoreInstance(instance, id, rows);
        for (const { instance, session, value } of request.sessions)
          assigner.restoreSession(instance, session, value);
        const assignment = assigner.assign(request.turns, unpack(request.enrichments, dimensions));
        const state = assigner.takeState();
        // Sessions come with each batch anew.
        assigner.evictSessions(0);
        return { assignment, state };
      }
      case 'reset':
        assigner.reset();
        return null;
      case 'close':
        await embedder.close();
        port.close();
        return null;
    }
  };

  let last: Promise<void> = Promise.resolve();
  port.on('message', ({ id, request }: { id: number; request: ThreadRequest }) => {
    // One after the other, in the order in which they came.
    last = last.then(async () => {
      let reply: ThreadReply;
      try {
        reply = { id, result: await answer(request) };
      } catch (error) {
        reply = { id, error: error instanceof Error ? error.message : String(error) };
      }
      if (request.kind !== 'close')
        port.postMessage(
          reply,
          'result' in reply && reply.result !== null && 'vectors' in reply.result
            ? [reply.result.vectors.buffer]
            : [],
        );
    });
  });
}
