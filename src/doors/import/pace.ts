/** Covered by test/doors/import/importer.test.ts. */
import type { Ingested } from '../client/answers.ts';
import type { ImportTarget } from './contract.ts';

interface Mark {
  readonly position: number;
  readonly sessionId: string;
  readonly storedAt: number;
}

/** Between two questions, where the service answers at once that it is not there yet. */
const ASK_EVERY_MS = 200;
/** A wait for a mark tells of all that was stored before it. */
const MARK_EVERY_MS = 500;

/** Keeps an import from getting further ahead of what is counted than some time, so that others' numbers stay live. */
export class Pace {
  readonly #target: Pick<ImportTarget, 'query'>;
  readonly #maxLagMs: number;
  /** Oldest first; of none of them is known that it is counted. */
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

  /** Resolves once what was stored longer ago is counted. Throws as the query does. */
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
