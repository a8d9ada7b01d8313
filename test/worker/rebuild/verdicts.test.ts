import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CurationRow } from '../../../src/domain/facts.ts';
import { agreementLine, readAgreement, type Agreement } from '../../../src/worker/rebuild/verdicts.ts';
import { assignment, fact, openFixture, uuid, type Fixture } from '../../support/fold.ts';

/** Sessions 1 to 3 are about topic 1, 4 and 5 about topic 2; session 1 shows signal 0. */
const TOPIC_OF = [1, 1, 1, 2, 2];

let verdicts = 0;
function said(
  of: 'TOPIC' | 'SIGNAL',
  entityId: string,
  session: number,
  verdict: string,
  reader?: string,
): CurationRow {
  verdicts += 1;
  return {
    instance: 1,
    curation: verdicts,
    id: uuid(7, verdicts),
    position: 100 + verdicts,
    createdAt: 0,
    keyId: 'key',
    action: 'CHECK',
    entity: of,
    entityId,
    detail: JSON.stringify({ session: uuid(1, session), verdict, reader }),
    refused: null,
    undoneBy: null,
  };
}

describe('verdicts beside a rebuild', () => {
  let fixture: Fixture;
  const topic = uuid(4, 1);
  const signal = uuid(6, 0);
  before(async () => {
    fixture = await openFixture();
    await fixture.fold(
      assignment({
        messages: TOPIC_OF.map((micro, index) =>
          fact({ position: index + 1, session: index + 1, micro, signals: index === 0 ? [0] : [] }),
        ),
        micros: [1, 2].map((micro) => ({ instance: 1, micro, topic: micro })),
        topics: [1, 2, 3].map((number) => ({
          instance: 1,
          topic: number,
          id: uuid(4, number),
          name: `topic ${number}`,
          cluster: null,
          heir: number === 3 ? 1 : null,
          since: number === 3 ? 1 : null,
        })),
        signals: [
          {
            instance: 1,
            signal: 0,
            id: signal,
            name: 'Thanks',
            signalType: 'SAT',
            source: 'INFERRED',
            description: 'Says so',
          },
        ],
        sessions: TOPIC_OF.map((_, index) => ({
          instance: 1,
          session: index + 1,
          id: uuid(1, index + 1),
          user: null,
          title: null,
          summary: null,
          language: null,
          outcome: null,
        })),
      }),
    );
  });
  after(() => fixture.close());

  async function agreementAfter(curations: readonly CurationRow[]): Promise<Agreement> {
    await fixture.fold(assignment({ curations }));
    await fixture.publish();
    const snapshot = await fixture.reader.snapshot();
    if (snapshot === null) throw new Error('nothing is published');
    try {
      return await readAgreement([snapshot, snapshot]);
    } finally {
      snapshot.release();
    }
  }

  it('counts what was found rightly, wrongly and not, by the latest verdicts that hold', async () => {
    deepEqual(await agreementAfter([]), { hits: 0, wrong: 0, missed: 0 });
    const undone = { ...said('TOPIC', topic, 3, 'NO'), undoneBy: uuid(7, 99) };
    const refused = { ...said('TOPIC', topic, 3, 'NO'), refused: 'UNKNOWN' as const };
    const counted = await agreementAfter([
      said('TOPIC', topic, 1, 'NO'),
      said('TOPIC', topic, 1, 'YES'),
      said('TOPIC', topic, 2, 'NO'),
      said('TOPIC', topic, 4, 'YES'),
      said('TOPIC', topic, 5, 'NO'),
      said('TOPIC', topic, 3, 'UNSURE'),
      // A language model counts for nothing, neither in the place of a person nor beside one.
      said('TOPIC', topic, 1, 'NO', 'my-model'),
      said('TOPIC', topic, 3, 'NO', 'my-model'),
      undone,
      refused,
      said('SIGNAL', signal, 1, 'YES'),
      said('SIGNAL', signal, 2, 'YES'),
      // What is gone, or merged into another, says nothing.
      said('TOPIC', uuid(4, 9), 1, 'NO'),
      said('TOPIC', uuid(4, 3), 1, 'NO'),
    ]);
    // Two snapshots of the same rows.
    deepEqual(counted, { hits: 4, wrong: 2, missed: 4 });
    // What a person put in or took out counts as it was found.
    const detail = (position: number, found: number | null): string => JSON.stringify({ position, found });
    const corrected = await agreementAfter([
      { ...said('SIGNAL', signal, 0, ''), action: 'EXCLUDE', detail: detail(2, 0) },
      { ...said('SIGNAL', signal, 0, ''), action: 'EXCLUDE', detail: detail(3, null) },
    ]);
    deepEqual(corrected, { hits: 6, wrong: 2, missed: 2 });
    const put = { ...said('SIGNAL', signal, 0, ''), action: 'ASSIGN', detail: detail(1, null) } as const;
    deepEqual(await agreementAfter([put]), { hits: 4, wrong: 2, missed: 4 });
  });

  it('says both sides in a line, and nothing without verdicts', () => {
    const none = { hits: 0, wrong: 0, missed: 0 };
    equal(agreementLine(none, none), null);
    equal(
      agreementLine({ hits: 73, wrong: 7, missed: 10 }, { hits: 80, wrong: 3, missed: 0 }),
      'verdicts of people: before precision 91.3 % (73 of 80), recall 88 % (73 of 83); ' +
        'now precision 96.4 % (80 of 83), recall 100 % (80 of 80)',
    );
    equal(
      agreementLine(none, { ...none, wrong: 1 }),
      'verdicts of people: before none; now precision 0 % (0 of 1)',
    );
  });
});
