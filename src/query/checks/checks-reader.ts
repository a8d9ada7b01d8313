/**
 * Answers GET /v1/checks: sessions to check, and estimates from the verdicts, all from one snapshot.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { CHECKED_KEYS, checkedUuid, isCheckedEntity, type Checked } from '../../domain/checks.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames, entityById } from '../names.ts';
import { InstanceReader, processedAt, readInstanceRow } from '../instance-reader.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import { noSuch } from '../no-such.ts';
import { rangeIn } from '../routing.ts';
import { checkSegment } from '../segments.ts';
import type { ChecksParameters, ChecksResponse, Estimate } from './checks-schema.ts';
import { agreementOf, estimateOf, nextOf, readEstimate, readReview } from './estimates.ts';

/** The checked entity: of what merged, its heir. */
interface Entity {
  readonly number: number;
  readonly id: string;
  readonly name: string;
}

export class ChecksReader extends InstanceReader {
  /**
   * The caller checks that the instance exists. Throws AppError NOT_FOUND for an unknown entity, VALIDATION_ERROR for an
   * attribute that no session has, SERVICE_UNAVAILABLE while the views cannot be read.
   */
  read(parameters: ChecksParameters, caller = ''): Promise<ChecksResponse> {
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#answer(snapshot, parameters), caller);
  }

  /**
   * The estimate over all time; null if there is no verdict. Throws AppError NOT_FOUND and SERVICE_UNAVAILABLE as `read`.
   */
  estimate(
    instanceId: string,
    of: Checked,
    id: string,
    segment: readonly SegmentChoice[],
  ): Promise<Estimate | null> {
    const range = { start: -Infinity, end: Infinity };
    return this.options.readerOf(instanceId).read(async (snapshot) => {
      const { instance, entity } = await entityOf(snapshot, instanceId, of, id);
      const verdictsOf = checkedUuid(instanceId, of, entity.id);
      return readEstimate(snapshot, { instance, of, entity, verdictsOf, range, segment });
    });
  }

  async #answer(snapshot: Snapshot, parameters: ChecksParameters): Promise<ChecksResponse> {
    const { instanceId, of, id, reviewerError, limit, segment = [] } = parameters;
    const { row, instance, entity } = await entityOf(snapshot, instanceId, of, id);
    await checkSegment(snapshot, instance, segment);
    const verdictsOf = checkedUuid(instanceId, of, entity.id);
    const range = rangeIn(parameters);
    const review = await readReview(snapshot, { instance, of, entity, verdictsOf, range, segment });
    const estimate = estimateOf(review, reviewerError);
    const { found, notFound } = estimate;
    const counted = found.yes + found.no + found.unsure + notFound.yes + notFound.no + notFound.unsure;
    return {
      checked: { of, id: entity.id, name: entity.name },
      ...estimate,
      uncounted: review.verdicts.size - counted,
      secondReader: agreementOf(review),
      sample: nextOf(review, limit).map(({ id: sessionId, title, found }) => ({ sessionId, title, found })),
      lastProcessedAt: processedAt(row, this.options),
    };
  }
}

/** Throws AppError NOT_FOUND. An outcome or type of gaps has no number. */
async function entityOf(
  snapshot: Snapshot,
  instanceId: string,
  of: Checked,
  id: string,
): Promise<{ readonly row: Row; readonly instance: number; readonly entity: Entity }> {
  const row = await readInstanceRow(snapshot, instanceId);
  const instance = row?.['instance'] as number | undefined;
  if (!isCheckedEntity(of)) {
    if (row === undefined || instance === undefined) throw noSuch('session', 'yet');
    const entity = { number: -1, id, name: CHECKED_KEYS[of][id] ?? id };
    return { row, instance, entity };
  }
  const { table, words } = NAMED_ENTITIES[of];
  const names = instance === undefined ? null : await cachedNames(snapshot, table, instance);
  const found = names === null ? null : entityById(names, id.toLowerCase());
  if (row === undefined || instance === undefined || found === null) throw noSuch(words, id.toLowerCase());
  const { number, heir } = found;
  const entity = { number, id: heir['id'] as string, name: heir['name'] as string };
  return { row, instance, entity };
}
