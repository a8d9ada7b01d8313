import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AFTER_ASSISTANT,
  AFTER_USER,
  MOVE_RULES,
  type AssistantEnding,
  type MovingTurn,
  type UserEnding,
} from '../../../../src/reader/conversations/moves-and-outcome.ts';
import { firstRule, type ActRule } from '../../../../src/reader/acts/tables/act-table.ts';
import {
  MANNERS_ACTS,
  mannersReadOf,
  assistantSentenceOf,
  TASK_ACTS,
} from '../../../../src/reader/acts/tables/assistant-sentence.ts';
import { readTurn, TURN_ACTS } from '../../../../src/reader/acts/tables/assistant-turn.ts';
import { CLAIM_ACTS } from '../../../../src/reader/acts/tables/claim.ts';
import { USER_ACTS, UserSentence } from '../../../../src/reader/acts/tables/user-sentence.ts';
import { claimsOf, findGap } from '../../../../src/reader/acts/gap-claims.ts';
import { gapMatcher } from '../../../../src/reader/acts/gap-phrases.ts';

/** Each rule of a table is the first that holds for its own example. */
function holds<Read, Act extends string, Example>(
  name: string,
  table: readonly ActRule<Read, Act, Example>[],
  readOf: (example: Example) => Read,
): void {
  describe(name, () => {
    for (const [place, rule] of table.entries())
      it(`${place + 1}. ${rule.act}: ${JSON.stringify(rule.example)}`, () => {
        equal(table.indexOf(firstRule(table, readOf(rule.example))), place);
      });
  });
}

const MOVING: MovingTurn = {
  bringsUp: false,
  isAnswer: false,
  isRepeated: false,
  isReply: false,
  asked: [],
  signals: [],
  awaited: 'nothing',
  recap: '',
};
const USER: UserEnding = {
  outcome: 'open',
  isDone: false,
  move: 'says',
  signals: [],
  isRequest: false,
  isRepeated: false,
  asks: false,
  isAnswered: true,
};
const ASSISTANT: AssistantEnding = {
  outcome: 'open',
  isDone: false,
  move: 'says',
  handsOver: false,
  states: 'nothing',
  isRefused: false,
  wasRefused: false,
};

holds('a sentence of an assistant, toward the task', TASK_ACTS, assistantSentenceOf);
holds('a sentence of an assistant, toward manners', MANNERS_ACTS, mannersReadOf);
holds('a turn of an assistant', TURN_ACTS, (text) => readTurn(text, findGap(text).missing !== null));
holds('a claim of an assistant', CLAIM_ACTS, (text) => claimsOf(gapMatcher().match(text))[0]!);
holds('a sentence of a user', USER_ACTS, (text) => new UserSentence(text, true));
holds('the move of a turn of a user', MOVE_RULES, (some) => ({ ...MOVING, ...some }));
holds('the outcome after a user', AFTER_USER, (some) => ({ ...USER, ...some }));
holds('the outcome after an assistant', AFTER_ASSISTANT, (some) => ({ ...ASSISTANT, ...some }));
