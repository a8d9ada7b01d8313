import { describe, it } from 'node:test';
import { VIEWS } from '../../support/fold.ts';
import { forgettingLaw } from '../../support/forgetting.ts';
import { holds, runsOf } from '../../support/laws.ts';

describe('forgetting', () => {
  it('leaves the rows of a history in which what went was never said, in random cases', (test) =>
    holds(test, forgettingLaw(VIEWS), runsOf(1)));
});
