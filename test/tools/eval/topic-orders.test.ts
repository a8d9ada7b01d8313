import { equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agreementOfOrders } from '../../../tools/eval/topic-orders.ts';
import type { TopicSnapshot } from '../../../tools/eval/topic-run.ts';
import { labelledRequest } from './builders.ts';

/** Topics by request id, in the order of arrival. */
function order(given: Readonly<Record<string, number | null>>): TopicSnapshot {
  return {
    requests: Object.keys(given).map((id) => labelledRequest({ id })),
    topicOf: Object.values(given),
    topics: new Map(),
    clusters: new Map(),
  };
}

describe('agreementOfOrders', () => {
  it('is 1 for the same groups under other numbers, in another order', () => {
    const scores = agreementOfOrders(order({ a: 1, b: 1, c: 2, d: 2 }), order({ d: 7, a: 9, c: 7, b: 9 }));
    equal(scores.ari, 1);
    equal(scores.ariWithNone, 1);
    equal(scores.onlyInOne, 0);
  });

  it('leaves requests without a topic out, or counts them as a group', () => {
    const scores = agreementOfOrders(
      order({ a: 1, b: 1, c: 2, d: 2, e: null, f: null }),
      order({ a: 1, b: 1, c: 2, d: 2, e: 1, f: null }),
    );
    equal(scores.both, 4);
    equal(scores.ari, 1);
    equal(scores.ariWithNone < 1, true);
    equal(scores.onlyInOne, 1 / 6);
  });

  it('refuses runs over different requests', () => {
    throws(() => agreementOfOrders(order({ a: 1 }), order({ b: 1 })), /request a is in one order only/);
  });
});
