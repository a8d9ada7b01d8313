import { deepEqual, equal, ok } from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { framedReactions, styleRows, verdictAfter } from '../../../tools/eval/verdicts.ts';
import { loadPipeline } from '../../../tools/eval/pipeline.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';

const MODELS = resolve(import.meta.dirname, '../../../models');

describe('a signal is what the user says', () => {
  const reactions = framedReactions('tuned', loadHeads());

  it('never the opposite after another turn of the assistant', () => {
    const both = reactions.filter(({ found }) => found.includes('SAT') && found.includes('DSAT'));
    deepEqual(
      both.map(({ user }) => user),
      [],
    );
  });

  it('nearly always the same after an answer, a wait, a question and a hand-over', () => {
    const other = reactions.filter(({ found }) => new Set(found).size > 1);
    ok(other.length < 0.06 * reactions.length, `${other.length} of ${reactions.length}`);
  });

  it('nothing where it only answers the question, or is polite after a refusal', () => {
    const heads = loadHeads();
    const silent: readonly (readonly [assistant: string, user: string])[] = [
      ['Would you like me to book it?', 'no'],
      ['Would you like me to book it?', 'sounds good'],
      ['Which day suits you?', 'Thursday at ten please, thanks'],
      ['I am sorry, I cannot do that here.', 'ok thanks'],
      ["I'll pass you on to a colleague.", 'ok thank you'],
      ['One moment please, I am checking.', 'got it'],
      ['What happens when you press the button?', 'nothing, it does not work'],
      ['Does it work with cable?', 'To Vancouver, BC.'],
      ['Anything else?', 'No, I do not need any more help'],
    ];
    deepEqual(
      silent.filter(([assistant, user]) => verdictAfter(assistant, user, heads) !== null),
      [],
    );
  });
});

describe('the same customers', () => {
  it('are judged alike whatever the style of the assistant', async () => {
    const options = { dataDirectory: '', file: null, modelsDirectory: MODELS, model: 'undertone-small' };
    const pipeline = await loadPipeline(options);
    const rows = await styleRows(pipeline, 'tuned');
    await pipeline.close();
    equal(rows.length, 6);
    const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
    ok(spread(rows.map(([, , right]) => Number(right))) <= 2, JSON.stringify(rows));
    ok(spread(rows.map((row) => Number(row[4]))) <= 2, JSON.stringify(rows));
  });
});
