import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUEST_MEMORY_MICROS, type RecordedRequest } from '../../src/domain/records.ts';
import { messagesOf, Numbering } from '../../src/worker/batch.ts';
import { assignment, openFixture, uuid, type Fixture } from '../support/fold.ts';
import { recordedRequest } from '../support/requests.ts';

const AT = 1_700_000_000_000_000;
const HOUR = 3600 * 1_000_000;

describe('messages of entries', () => {
  it('are read without what nobody sees, which would come into names', () => {
    const request = recordedRequest({
      messages: [{ role: 'user', content: 'Refund\u202e my\u2066 order\0', at: AT }],
    });
    const [message] = messagesOf([{ sequence: 1, requests: [request], leftOut: new Set() }]);
    equal(message?.content, 'Refund my order');
  });
});

describe('numbering', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
  });
  after(async () => {
    await fixture.close();
  });

  /** Hours at which requests of one id were accepted and counted, in batches of a size. */
  async function counted(id: string, hours: readonly number[], size: number): Promise<number[]> {
    const requests = hours.map((hour): RecordedRequest =>
      recordedRequest({ requestId: id, acceptedAt: AT + hour * HOUR }),
    );
    const taken: number[] = [];
    for (let from = 0; from < requests.length; from += size) {
      const numbering = new Numbering(fixture.store);
      const entries = requests.slice(from, from + size).map((request, index) => ({
        sequence: from + index,
        requests: [request],
        leftOut: new Set<number>(),
      }));
      const batch = await numbering.number(entries);
      taken.push(...batch.requests.map(({ acceptedAt }) => (acceptedAt - AT) / HOUR));
      await fixture.fold(assignment(), [], { requests: batch.requests });
    }
    return taken;
  }

  it('says the name of a session with every part of its request: all of the first may be erased', async () => {
    const request = recordedRequest({
      messages: [
        { role: 'erased', content: '', at: 0, erased: true },
        { role: 'user', content: 'Where is my order?', at: AT },
      ],
      metadata: { session: { externalId: 'ticket-1' } },
    });
    const numbering = new Numbering(fixture.store);
    const names: unknown[] = [];
    for (const [from, message] of request.messages.entries()) {
      const part = { ...request, messages: [message] };
      const places = [{ place: 0, index: from, from }];
      const { turns, sessionNames } = await numbering.number([
        { sequence: 1, requests: [part], leftOut: new Set(), places },
      ]);
      names.push([turns.length, sessionNames[0]?.externalId]);
    }
    deepEqual(names, [
      [0, 'ticket-1'],
      [1, 'ticket-1'],
    ]);
  });

  it('drops a request that repeats one of two days before it, the same whatever the batches are', async () => {
    const days = REQUEST_MEMORY_MICROS / HOUR;
    const hours = [0, 1, days, days + 1, days + 2, 2 * days + 1, 2 * days + 2, 0];
    for (const [index, size] of [1, 2, 3, hours.length].entries())
      deepEqual(
        await counted(uuid(9, index), hours, size),
        [0, days + 1, 2 * days + 2],
        `batches of ${size}`,
      );
  });
});
