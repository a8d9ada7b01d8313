import { answerQuery, streamElements, type AnswerOptions, type Elements } from './answer.ts';
import { nothingPublished } from '../store/published/unanswerable.ts';
import type { SnapshotReader } from '../store/published/snapshot-reader.ts';
import type { QueryParameters } from './parameters.ts';
import { LONG_ANSWER, placesFor } from './places.ts';
import { PositionWaits } from './position-waits.ts';
import type { QueryResponse } from './response-schema.ts';

export interface QueryRunnerOptions extends AnswerOptions {
  /** The reader of the shard that an instance (UUID) belongs to. */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read' | 'waitFor' | 'snapshot' | 'inTurn'>;
  /** Queries that wait for a position. Default: any number, for whatever position. */
  readonly waits?: PositionWaits;
}

/** Answers queries from the newest snapshot; one answer is one snapshot. */
export class QueryRunner {
  readonly #options: QueryRunnerOptions;
  readonly #waits: PositionWaits;

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
    this.#waits = options.waits ?? new PositionWaits({ most: Infinity, isIssued: async () => true });
  }

  /**
   * Waits until the instance's view contains a stream position, at most `timeoutMs`; true when it does. Throws
   * AppError SERVICE_UNAVAILABLE when too many of the caller's wait already.
   */
  waitFor(instanceId: string, position: number, timeoutMs: number, caller = ''): Promise<boolean> {
    const reader = this.#options.readerOf(instanceId);
    return this.#waits.wait(caller, position, timeoutMs, (ms) => reader.waitFor(position, ms, instanceId));
  }

  /**
   * The instance is known to exist; one without processed messages gives an empty answer. Throws AppError
   * SERVICE_UNAVAILABLE while the views cannot be read. Queries of different callers take turns.
   */
  run(parameters: QueryParameters, caller = ''): Promise<QueryResponse> {
    return this.#options
      .readerOf(parameters.instanceId)
      .read(
        (snapshot) => answerQuery(snapshot, parameters, this.#options),
        caller,
        placesFor(parameters.limit),
      );
  }

  /**
   * The elements of the whole answer, some thousands at a time, all of one snapshot, whatever the page asked for.
   * Throws with the first of them what `run` throws.
   */
  async *stream(parameters: QueryParameters, caller = ''): AsyncGenerator<Elements> {
    const reader = this.#options.readerOf(parameters.instanceId);
    const snapshot = await reader.snapshot(caller);
    if (snapshot === null) throw nothingPublished();
    const elements = streamElements(snapshot, parameters, this.#options);
    try {
      for (;;) {
        // A turn for each part: who reads slowly has none meanwhile.
        const { done, value } = await reader.inTurn(caller, () => elements.next(), LONG_ANSWER);
        if (done === true) return;
        yield value;
      }
    } finally {
      await elements.return(undefined);
      snapshot.release();
    }
  }
}
