/** The names of test/gold/topic-names.jsonl: requests of one business are one instance. */
import { ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { nameTopic } from '../../../../src/reader/topics/naming/topic-names.ts';
import { axis, freshState, microOf } from '../builders.ts';

interface Group {
  readonly business: string;
  readonly language: string;
  /** Every name that a reader takes as right. */
  readonly names: readonly string[];
  readonly requests: readonly string[];
  /** Nobody who writes rules has seen it, so a failure does not show it. */
  readonly sealed: boolean;
}

const GOLD = join(import.meta.dirname, '../../../gold/topic-names.jsonl');
/** Share of the names that are right. */
const LEAST_RIGHT = 0.85;

/** What the groups of one business are called. */
function namesOf(groups: readonly Group[]): string[] {
  const state = freshState();
  const topics = groups.map(({ requests }) =>
    state.createTopic(requests.map((text, at) => microOf(state, axis(at), text)))!,
  );
  for (const topic of topics) nameTopic(state, topic, state.overview());
  return topics.map(({ name }) => name);
}

describe('names of topics in fourteen languages', () => {
  const groups = readFileSync(GOLD, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Group);

  it('are what a reader would call the requests', () => {
    const wrong = [...Map.groupBy(groups, ({ business }) => business).values()].flatMap((own) => {
      const names = namesOf(own);
      return own.flatMap(({ names: right, language, sealed }, at) => {
        if (right.includes(names[at]!)) return [];
        return [sealed ? `${language}: a sealed one` : `${language}: ${names[at]!}, not ${right[0]!}`];
      });
    });
    ok(wrong.length <= (1 - LEAST_RIGHT) * groups.length, wrong.join('\n'));
  });
});
