/** What is made of what a victim, a ledger and a process's memory told. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valueOf } from '../../../tools/bench/load/attacks/counts.ts';
import { quantilesOf, type AttackFigures, type Phase } from '../../../tools/bench/load/attacks/measure.ts';
import { accountTable, judge, victimTable } from '../../../tools/bench/load/attacks/report.ts';
import { Visibility } from '../../../tools/bench/load/attacks/visibility.ts';
import { isFlat, trendOf } from '../../../tools/bench/load/soak/memory.ts';
import { Tally } from '../../../tools/bench/load/tally.ts';

describe('visibility', () => {
  const accepted = (...all: readonly (readonly [at: number, position: number, messages: number])[]) => {
    const visibility = new Visibility();
    for (const [at, position, messages] of all) visibility.accepted({ at, position, messages });
    return visibility;
  };

  it('is told by the first total that holds a request, in the order of the stream', () => {
    const visibility = accepted([110, 2, 3], [100, 1, 2], [120, 3, 1]);
    for (const [at, total] of [
      [105, 0],
      [130, 2],
      [140, 5],
    ] as const)
      visibility.seen({ askedAt: at - 1, at, total });
    equal(visibility.isComplete, false);
    deepEqual(visibility.freshness(), [
      { at: 100, ms: 30 },
      { at: 110, ms: 30 },
      { at: 120, ms: Infinity },
    ]);
    visibility.seen({ askedAt: 149, at: 150, total: 6 });
    equal(visibility.isComplete, true);
    deepEqual(visibility.faults(), []);
  });

  it('counts the requests of one entry of the stream together', () => {
    const visibility = accepted([100, 1, 2], [101, 1, 3]);
    visibility.seen({ askedAt: 110, at: 120, total: 5 });
    deepEqual(visibility.freshness(), [
      { at: 100, ms: 20 },
      { at: 101, ms: 19 },
    ]);
    visibility.seen({ askedAt: 100, at: 101, total: 3 });
    deepEqual(visibility.faults(), []);
    visibility.seen({ askedAt: 121, at: 122, total: 6 });
    match(visibility.faults()[0] ?? '', /^6 messages: a part of a request/);
  });

  it('finds a total that went down, unless it was asked for before the larger one was answered', () => {
    const visibility = accepted([100, 1, 2], [101, 2, 3]);
    visibility.seen({ askedAt: 110, at: 120, total: 5 });
    visibility.seen({ askedAt: 119, at: 121, total: 2 });
    deepEqual(visibility.faults(), []);
    visibility.seen({ askedAt: 130, at: 131, total: 2 });
    deepEqual(visibility.faults(), ['2 messages are counted after 5 were']);
  });

  it('asks for whole requests no longer once nobody knows what is stored', () => {
    const visibility = accepted([100, 1, 2]);
    visibility.unknown();
    visibility.seen({ askedAt: 110, at: 120, total: 3 });
    deepEqual(visibility.faults(), []);
  });
});

const quick = quantilesOf([1, 2, 3]);
const phase = (fields: Partial<Phase> = {}): Phase => ({
  ingest: quick,
  query: quick,
  freshness: quick,
  traces: quick,
  waits: quick,
  alerts: quick,
  ...fields,
});

function figuresOf(fields: Partial<AttackFigures> = {}): AttackFigures {
  return {
    attack: { name: 'an-attack', what: '', everyMs: 0, prepare: async () => async () => undefined },
    before: phase(),
    during: phase(),
    attacker: new Tally(),
    balance: { instances: 1, accepted: 5, unknown: 0, counted: 5, lost: 0, twice: 0, wrong: [] },
    isSettled: true,
    victim: [],
    victimFaults: [],
    victimFaultCount: 0,
    seconds: 30,
    settling: 1,
    use: new Map(),
    attackerMs: 0,
    lateMs: 0,
    others: { before: 0, during: 0, of: 2 },
    ...fields,
  };
}

const slow = (ms: number): Phase => phase({ ingest: quantilesOf([ms]) });

describe('the verdict on an attack', () => {
  it('is that it holds where the victim felt nothing', () => {
    deepEqual(judge(figuresOf()), { verdict: 'holds', why: [] });
    const row = victimTable([figuresOf()]).split('\n')[1] ?? '';
    match(row, /^an-attack +ingest +2 +3 +3 +3 +3 +2 +3 +3 +3 +p99 250 +✓$/);
    match(accountTable([figuresOf()]), /an-attack +no answers +5 +0 +5 +0 +0 .* holds$/);
  });

  it('is that it does not where the victim waited for more than the target, and for more than before', () => {
    deepEqual(judge(figuresOf({ during: slow(300) })), {
      verdict: 'does not hold',
      why: ["p99 of the victim's ingest is 300 ms, more than 250"],
    });
    deepEqual(judge(figuresOf({ during: phase({ freshness: quantilesOf([1, Infinity]) }) })).why, [
      "p95 of the victim's freshness is never ms, more than 2000",
    ]);
    deepEqual(judge(figuresOf({ during: phase({ alerts: quantilesOf([]) }) })).why, [
      "nothing of the victim's alerts was answered",
    ]);
  });

  it('forgives up to four times what the victim waited before', () => {
    equal(judge(figuresOf({ before: slow(100), during: slow(400) })).verdict, 'holds');
    deepEqual(judge(figuresOf({ before: slow(100), during: slow(401) })), {
      verdict: 'does not hold',
      why: ["p99 of the victim's ingest is 401 ms, more than 400"],
    });
    match(victimTable([figuresOf({ before: slow(100) })]), / p99 400 +✓/);
  });

  it('is that the machine is too busy where the victim waited before, was late, or shared it, unless it waited far longer', () => {
    const late = { during: slow(300), lateMs: 101 };
    const others = { during: slow(300), others: { before: 0.6, during: 0.6, of: 2 } };
    for (const busy of [{ before: slow(501), during: slow(9000) }, late, others])
      equal(judge(figuresOf(busy)).verdict, 'too busy to tell');
    for (const busy of [late, others]) {
      equal(judge(figuresOf({ ...busy, during: slow(200) })).verdict, 'holds');
      equal(judge(figuresOf({ ...busy, during: slow(1001) })).verdict, 'does not hold');
    }
    equal(
      judge(figuresOf({ ...others, others: { ...others.others, during: 0.4 } })).verdict,
      'does not hold',
    );
    const never = slow(Infinity);
    equal(judge(figuresOf({ before: never, during: never })).verdict, 'too busy to tell');
  });

  it('names what is lost or counted twice, and wrong answers, however busy the machine', () => {
    const attacker = new Tally();
    attacker.fault('status 500');
    const balance = {
      instances: 1,
      accepted: 5,
      unknown: 0,
      counted: 4,
      lost: 1,
      twice: 0,
      wrong: ['instance i'],
    };
    const faults = { attacker, balance, victimFaults: ['ingest: status 503'], victimFaultCount: 2 };
    deepEqual(judge(figuresOf({ ...faults, lateMs: 1000 })), {
      verdict: 'does not hold',
      why: [
        '2 answers that a victim must not get, such as ingest: status 503',
        '1 answers that an attacker must not get, such as status 500',
        '1 messages are lost',
        'instance i',
      ],
    });
    deepEqual(judge(figuresOf({ isSettled: false })).why, [
      'something waited to be counted when patience ended',
    ]);
  });
});

describe('memory', () => {
  const samples = (mb: (seconds: number) => number) =>
    Array.from({ length: 60 }, (_, index) => ({ seconds: index * 10, mb: mb(index * 10) }));
  const trend = (mb: (seconds: number) => number) => {
    const found = trendOf(samples(mb));
    ok(found !== null);
    return found;
  };

  it('is flat where it rises in the first half only, or by noise', () => {
    ok(isFlat(trend((seconds) => 200 + Math.min(seconds, 290))));
    ok(isFlat(trend((seconds) => 500 + 60 * ((seconds / 10) % 2))));
  });

  it('is not flat where a line through the second half rises', () => {
    const found = trend((seconds) => 200 + seconds / 5);
    equal(isFlat(found), false);
    equal(Math.round(found.mbPerHour), 720);
    deepEqual([found.fromMb, found.toMb, found.peakMb].map(Math.round), [260, 318, 318]);
  });

  it('tells nothing of a short run', () => {
    equal(trendOf(samples(() => 1).slice(0, 20)), null);
  });
});

it('reads a metric, with labels or without', () => {
  const metrics = '# TYPE a gauge\na_entries 12\nb_total{worker="1",shard="0"} 3.5\n';
  deepEqual(
    [valueOf(metrics, 'a_entries'), valueOf(metrics, 'b_total'), valueOf(metrics, 'c')],
    [12, 3.5, null],
  );
});
