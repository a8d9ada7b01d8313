import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRuleSchema } from '../../../src/doors/alerts/rule.ts';
import { INSTANCE, SECRET, TOPIC } from './builders.ts';

const schema = newRuleSchema({ allowPrivate: false, hasMail: true });
const URL = 'https://example.com/hook';

/** The paths of what is wrong with a body; the body is right but for `changes`. */
function faults(changes: object): string[] {
  const body = { instanceId: INSTANCE, name: 'Name', condition: { kind: 'digest' }, delivery: { url: URL } };
  const { error } = schema.safeParse({ ...body, ...changes });
  return [...new Set((error?.issues ?? []).map(({ path }) => path.join('.')))];
}

const count = { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 3 };

describe('the body of a new alert', () => {
  it('fills in what may be left out', () => {
    const parsed = schema.parse({
      instanceId: INSTANCE.toUpperCase(),
      name: '  Rising\u00a0',
      condition: { kind: 'rising', groupBy: 'GAP', window: 'WEEK', ids: [TOPIC.toUpperCase()] },
      delivery: { url: URL },
    });
    deepEqual(parsed, {
      instanceId: INSTANCE,
      name: 'Rising',
      condition: { kind: 'rising', groupBy: 'GAP', window: 'WEEK', factor: 2, atLeast: 5, ids: [TOPIC] },
      delivery: { url: URL, format: 'undertone', quotes: false },
    });
  });

  it('may be any kind of condition', () => {
    for (const condition of [
      count,
      { ...count, groupBy: 'CSAT_DSAT', signalType: 'DSAT' },
      { ...count, segment: { plan: 'pro', 'service.version': ['2.4.0', 2.5], beta: true } },
      { kind: 'new_topic', segment: { plan: 'pro' } },
      { kind: 'new_topic' },
      { kind: 'new_topic', atLeast: 10 },
      { kind: 'new_value', segmentKey: 'service.version' },
      { kind: 'new_value', segmentKey: 'version', minSessions: 200, segment: { plan: 'pro' } },
      { kind: 'dsat_share', window: 'HOUR', above: 0.25, minSessions: 20 },
      { kind: 'digest' },
      { kind: 'digest', segment: { plan: 'pro', 'environment!': 'test' } },
    ])
      deepEqual(faults({ condition }), [], JSON.stringify(condition));
    deepEqual(faults({ delivery: { url: URL, format: 'slack', secret: SECRET } }), []);
  });

  it('is refused with the place of each fault', () => {
    const refused: readonly (readonly [changes: object, ...paths: string[]])[] = [
      [{ instanceId: 'x' }, 'instanceId'],
      [{ name: ' \n' }, 'name'],
      [{ name: 'a'.repeat(101) }, 'name'],
      [{ name: 'a\u202eb' }, 'name'],
      [{ name: 7 }, 'name'],
      [{ condition: null }, 'condition'],
      [{ condition: {} }, 'condition.kind'],
      [{ condition: { kind: 'COUNT' } }, 'condition.kind'],
      [{ condition: { ...count, segment: 'pro' } }, 'condition.segment'],
      [{ condition: { ...count, segment: { plan: [] } } }, 'condition.segment.plan'],
      [{ condition: { ...count, segment: { plan: 'x'.repeat(201) } } }, 'condition.segment.plan'],
      [{ condition: { ...count, segment: { externalId: 'x' } } }, 'condition.segment.externalId'],
      [{ condition: { ...count, atLeast: 0 } }, 'condition.atLeast'],
      [{ condition: { ...count, atLeast: 1.5 } }, 'condition.atLeast'],
      [{ condition: { ...count, atLeast: 1e300 } }, 'condition.atLeast'],
      [{ condition: { ...count, window: 'MONTH' } }, 'condition.window'],
      [{ condition: { ...count, groupBy: 'SESSION' } }, 'condition.groupBy'],
      [{ condition: { ...count, signalType: 'DSAT' } }, 'condition.signalType'],
      [{ condition: { ...count, ids: [] } }, 'condition.ids'],
      [{ condition: { ...count, ids: ['x'] } }, 'condition.ids.0'],
      [{ condition: { ...count, ids: Array(51).fill(TOPIC) } }, 'condition.ids'],
      [{ condition: { kind: 'dsat_share', window: 'DAY', above: 20 } }, 'condition.above'],
      [{ condition: { kind: 'rising', groupBy: 'GAP', window: 'DAY', factor: 1 } }, 'condition.factor'],
      [{ condition: { kind: 'new_value' } }, 'condition.segmentKey'],
      [{ condition: { kind: 'new_value', segmentKey: 'externalId' } }, 'condition.segmentKey'],
      [{ condition: { kind: 'new_value', segmentKey: 'v', minSessions: 0 } }, 'condition.minSessions'],
      [{ condition: { kind: 'new_value', segmentKey: 'v', window: 'DAY' } }, 'condition'],
      [{ condition: { kind: 'digest', window: 'DAY' } }, 'condition'],
      [{ delivery: {} }, 'delivery.url'],
      [{ delivery: { url: 'http://127.0.0.1/' } }, 'delivery.url'],
      [{ delivery: { url: URL, format: 'email' } }, 'delivery.format'],
      [{ delivery: { url: URL, secret: 'whsec_short' } }, 'delivery.secret'],
      [{ delivery: { url: URL, quotes: 'yes' } }, 'delivery.quotes'],
      [{ more: 1 }, ''],
    ];
    for (const [changes, ...paths] of refused) deepEqual(faults(changes), paths, JSON.stringify(changes));
  });

  it('takes people where there is a mail server, and then knows the format', () => {
    const parse = (delivery: object, hasMail: boolean) =>
      newRuleSchema({ allowPrivate: false, hasMail }).safeParse({
        instanceId: INSTANCE,
        name: 'Name',
        condition: { kind: 'digest' },
        delivery,
      });
    const url = 'mailto:ada@example.com';
    equal(parse({ url }, true).data?.delivery.format, 'email');
    equal(parse({ url: URL }, true).data?.delivery.format, 'undertone');
    equal(parse({ url, format: 'slack' }, true).error?.issues[0]?.path.join('.'), 'delivery.format');
    equal(parse({ url }, false).error?.issues[0]?.path.join('.'), 'delivery.url');
    equal(parse({ url: 'mailto:ada' }, true).error?.issues[0]?.path.join('.'), 'delivery.url');
  });

  it('takes private addresses where the operator says so', () => {
    ok(
      newRuleSchema({ allowPrivate: true, hasMail: false }).safeParse({
        instanceId: INSTANCE,
        name: 'Name',
        condition: { kind: 'digest' },
        delivery: { url: 'http://127.0.0.1/' },
      }).success,
    );
    equal(schema.safeParse([]).error?.issues[0]?.message, 'must be a JSON object');
  });
});
