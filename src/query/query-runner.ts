/**
 * Runs queries on the newest snapshot. All rows of an answer come from one snapshot.
 *
 * Test: test/query/query-runner.test.ts.
 */
import { answerQuery, streamElements, type AnswerOptions, type Elements } from './answer.ts';
import { InstanceReader } from './instance-reader.ts';
import { nothingPublished } from '../store/published/unanswerable.ts';
import type { SnapshotReader } from '../store/published/snapshot-reader.ts';
import type { QueryParameters } from './parameters.ts';
import { LONG_ANSWER, placesFor } from './places.ts';
import { PositionWaits } from './position-waits.ts';
import type { QueryResponse } from './response-schema.ts';

export interface QueryRunnerOptions extends AnswerOptions {
  /** Returns the reader of the shard that holds an instance (UUID). */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read' | 'waitFor' | 'snapshot' | 'inTurn'>;
  /** Default: no limit of waits, and every position counts as issued. */
  readonly waits?: PositionWaits;
}

/** Answers queries; callers take turns. */
export class QueryRunner extends InstanceReader<QueryRunnerOptions> {
  readonly #waits = this.options.waits ?? new PositionWaits({ most: Infinity, isIssued: async () => true });

  /**
   * Waits at most `timeoutMs` until the instance's view contains a stream position; returns true once it does. Throws
   * AppError SERVICE_UNAVAILABLE when the caller has too many waits already.
   */
  waitFor(instanceId: string, position: number, timeoutMs: number, caller = ''): Promise<boolean> {
    const reader = this.options.readerOf(instanceId);
    return this.#waits.wait(caller, position, timeoutMs, (ms) => reader.waitFor(position, ms, instanceId));
  }

  /**
   * The caller checks that the instance exists; one without processed messages gives an empty answer. Throws AppError
   * SERVICE_UNAVAILABLE while the views cannot be read.
   */
  run(parameters: QueryParameters, caller = ''): Promise<QueryResponse> {
    return this.options
      .readerOf(parameters.instanceId)
      .read(
        (snapshot) => answerQuery(snapshot, parameters, this.options),
        caller,
        placesFor(parameters.limit),
      );
  }

  /**
   * Yields the elements of the whole answer from one snapshot, about 10,000 at a time; ignores `limit` and `offset`.
   * Throws the errors of `run` before the first part.
   */
  async *stream(parameters: QueryParameters, caller = ''): AsyncGenerator<Elements> {
    const reader = this.options.readerOf(parameters.instanceId);
    const snapshot = await reader.snapshot(caller);
    if (snapshot === null) throw nothingPublished();
    const elements = streamElements(snapshot, parameters, this.options);
    try {
      for (;;) {
        // Each part takes a turn of its own, so a slow client holds no place.
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
