import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMessageBudget, nearerToItsEnd, type Allowance } from '../../src/web/rate-limit.ts';

const START = 1_700_000_000_000;

function open(perSecond: number) {
  const clock = { now: START };
  const budget = createMessageBudget(perSecond, () => clock.now);
  const take = (messages: number, caller = 'a'): (number | boolean)[] => {
    const { allowed, remaining } = budget.take(caller, messages);
    return [allowed, remaining];
  };
  return { clock, budget, take };
}

describe('the budget of messages', () => {
  it('holds five seconds of them, and fills steadily', () => {
    const { clock, budget, take } = open(100);
    deepEqual(take(200), [true, 300]);
    clock.now += 500;
    equal(budget.look('a').remaining, 350);
    clock.now += 60_000;
    equal(budget.look('a').remaining, 500);
    deepEqual(take(1, 'b'), [true, 499]);
  });

  it('takes a request of any size while there is something left, and then none', () => {
    const { take } = open(100);
    deepEqual(take(499), [true, 1]);
    deepEqual(take(10_000), [true, 0]);
    deepEqual(take(1), [false, 0]);
    deepEqual(take(1, 'b'), [true, 499]);
  });

  it('says truly when the same is accepted', () => {
    for (const perSecond of [1, 7, 100, 20_000]) {
      for (const messages of [1, 333, 10_000]) {
        const { clock, budget, take } = open(perSecond);
        while (take(messages)[0] === true);
        const { retryAfter, resetAt } = budget.look('a');
        ok(retryAfter >= 1 && Number.isInteger(retryAfter));
        clock.now += retryAfter * 1000;
        ok(resetAt * 1000 <= clock.now && resetAt * 1000 > START);
        equal(take(messages)[0], true, `${messages} at ${perSecond} a second`);
      }
    }
  });

  it('does not ask to wait for longer than it has to', () => {
    const { clock, budget, take } = open(100);
    deepEqual(
      [take(500), take(1)],
      [
        [true, 0],
        [false, 0],
      ],
    );
    equal(budget.look('a').retryAfter, 1);
    clock.now += 10;
    deepEqual(take(10_000), [true, 0]);
    equal(budget.look('a').retryAfter, 100);
  });

  it('counts nothing of what is refused or came to nothing', () => {
    const { clock, budget, take } = open(100);
    take(700);
    for (let i = 0; i < 10; i += 1) deepEqual(take(1000), [false, 0]);
    budget.giveBack('a', 300);
    equal(budget.look('a').remaining, 100);
    budget.giveBack('a', 10_000);
    equal(budget.look('a').remaining, 500);
    clock.now += 1000;
    equal(budget.look('a').remaining, 500);
  });

  it('goes on when the clock is set back', () => {
    const { clock, budget, take } = open(100);
    take(600);
    clock.now -= 3_600_000;
    equal(budget.look('a').allowed, false);
    clock.now += budget.look('a').retryAfter * 1000;
    equal(budget.look('a').allowed, true);
  });
});

it('the budget that is nearer to its end is the one of which a smaller part is left', () => {
  const of = (unit: Allowance['unit'], remaining: number, limit: number): Allowance => ({
    unit,
    remaining,
    limit,
    perSecond: limit,
    resetAt: 0,
    retryAfter: 1,
    allowed: true,
  });
  const requests = of('requests', 900, 1000);
  equal(nearerToItsEnd(requests, of('messages', 99_999, 100_000)).unit, 'requests');
  equal(nearerToItsEnd(requests, of('messages', 89_999, 100_000)).unit, 'messages');
  equal(nearerToItsEnd(requests, of('messages', 90_000, 100_000)).unit, 'requests');
});
