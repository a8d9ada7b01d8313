/**
 * Slows an import down while the service is too far behind, so that other users' figures stay current.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import type { Ingested } from '../client/answers.ts';
import type { ImportTarget } from './contract.ts';

interface Mark {
  readonly position: number;
  readonly sessionId: string;
  readonly storedAt: number;
}

/** Pause between two queries after one that times out at once. */
const ASK_EVERY_MS = 200;
/** Marks closer than this are dropped: a wait for a mark covers everything stored before it. */
const MARK_EVERY_MS = 500;

/** Keeps an import within `maxLagMs` of what the service has processed. */
export class Pace {
  readonly #target: Pick<ImportTarget, 'query'>;
  readonly #maxLagMs: number;
  /** Oldest first; none is known to be processed. */
  readonly #marks: Mark[] = [];

  constructor(target: Pick<ImportTarget, 'query'>, maxLagMs: number) {
    this.#target = target;
    this.#maxLagMs = maxLagMs;
  }

  stored({ position, sessionId }: Ingested): void {
    const storedAt = performance.now();
    const last = this.#marks.at(-1);
    if (position === null || (last !== undefined && storedAt - last.storedAt < MARK_EVERY_MS)) return;
    this.#marks.push({ position, sessionId, storedAt });
  }

  /** Resolves once everything stored more than `maxLagMs` ago is processed. Throws the query's errors. */
  async keep(instanceId: string, isEnded: () => boolean): Promise<void> {
    for (let mark = this.#marks[0]; mark !== undefined && !isEnded(); mark = this.#marks[0]) {
      if (performance.now() - mark.storedAt < this.#maxLagMs) return;
      const { waitResult } = await this.#target.query(
        { groupBy: 'SESSION', instanceId, fields: 'messages', ids: mark.sessionId },
        mark.position,
      );
      if (waitResult === 'timeout') await new Promise((done) => setTimeout(done, ASK_EVERY_MS));
      else if (this.#marks[0] === mark) this.#marks.shift();
    }
  }
}
