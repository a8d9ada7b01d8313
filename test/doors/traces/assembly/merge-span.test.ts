import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeSpan } from '../../../../src/doors/traces/assembly/merge-span.ts';
import {
  TextHashes,
  type HashedMessage,
  type HashedSpan,
} from '../../../../src/doors/traces/assembly/hashed-span.ts';
import type { Turn } from '../../../../src/doors/traces/assembly/turn.ts';

const hashes = new TextHashes();
const SECOND = 1_000_000;
const START = 1e15;
/** More than are kept of a conversation between two calls. */
const TURNS = 4000;
/** Looks at what is known, for each turn and each message together: what one goes through is gone through once more. */
const LOOKS = 12;

const says = (role: HashedMessage['role'], content: string): HashedMessage => ({
  role,
  content,
  hash: hashes.of(content),
});
const asks = (content: string): HashedMessage => says('user', content);
const answers = (content: string): HashedMessage => says('assistant', content);
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function span(parts: Partial<HashedSpan>): HashedSpan {
  return {
    trace: 'new',
    startedAt: START + TURNS * SECOND,
    endedAt: START + (TURNS + 1) * SECOND,
    asked: [],
    answered: [],
    continues: false,
    alone: true,
    ...parts,
  };
}

/** Turns of a conversation that count how often somebody looks at them. */
function watched(messages: readonly HashedMessage[], inferred: Turn['inferred'] = null) {
  let looks = 0;
  class WatchedTurn implements Turn {
    at: number;
    trace = 'old';
    #inferred = inferred;
    readonly #message: HashedMessage;

    constructor(one: HashedMessage, index: number) {
      this.#message = one;
      this.at = START + index * SECOND;
    }
    get role(): Turn['role'] {
      looks += 1;
      return this.#message.role;
    }
    get hash(): string {
      looks += 1;
      return this.#message.hash;
    }
    get inferred(): Turn['inferred'] {
      looks += 1;
      return this.#inferred;
    }
    set inferred(value) {
      this.#inferred = value;
    }
  }
  const turns: Turn[] = messages.map((one, index) => new WatchedTurn(one, index));
  return { turns, looks: () => looks };
}

/** What is known of a conversation, what a call says, and how many messages of it are new. */
const CALLS: readonly (readonly [
  name: string,
  known: readonly HashedMessage[],
  inferred: Turn['inferred'],
  says: HashedSpan,
  added: number,
])[] = [
  [
    'has thousands of answers, before thousands of later ones',
    [asks('q'), ...many(TURNS, (index) => answers(`known ${index}`))],
    null,
    span({
      startedAt: START,
      endedAt: START + SECOND / 2,
      asked: [asks('q')],
      answered: many(9000, () => answers('k')),
    }),
    9000,
  ],
  [
    'repeats thousands of equal turns that are one shorter',
    many(TURNS, () => answers('a')),
    null,
    span({ asked: [...many(TURNS / 2, () => answers('a')), asks('q')] }),
    1,
  ],
  [
    'repeats a history of which half is told otherwise',
    many(TURNS, (index) => (index % 2 === 0 ? asks(`q ${index}`) : answers(`a ${index}`))),
    null,
    span({
      asked: [
        ...many(TURNS, (index) => (index % 2 === 0 ? asks(`q ${index}`) : answers(`b ${index}`))),
        asks('new'),
      ],
    }),
    1,
  ],
  [
    'has a history that nobody knows, of the other role than what is known',
    [...many(TURNS, (index) => answers(`a ${index}`)), asks('known')],
    'history',
    span({ asked: [...many(9000, (index) => asks(`q ${index}`)), asks('known'), answers('x'), asks('y')] }),
    9002,
  ],
  [
    'asks the same again and again behind thousands of equal questions',
    many(TURNS, () => asks('q')),
    null,
    span({ asked: many(200, () => asks('q')) }),
    0,
  ],
  [
    'goes on with a question that was asked thousands of times',
    many(TURNS, (index) => (index % 2 === 0 ? asks('q') : answers('a'))),
    'history',
    span({ asked: [asks('q'), ...many(9000, () => answers('b'))], continues: true }),
    9000,
  ],
  [
    'repeats thousands of steps',
    [asks('q'), ...many(TURNS, (index) => answers(`step ${index}`))],
    'step',
    span({ asked: [asks('q'), ...many(TURNS, (index) => answers(`step ${index}`))], continues: true }),
    0,
  ],
];

describe('a call of a conversation with thousands of turns', () => {
  for (const [name, known, inferred, call, added] of CALLS) {
    it(`takes as many looks as it has messages and the conversation turns: it ${name}`, () => {
      const { turns, looks } = watched(known, inferred);
      equal(mergeSpan(turns, call).length, added);
      const most = LOOKS * (known.length + call.asked.length + call.answered.length);
      ok(looks() <= most, `${looks()} looks, at most ${most}`);
    });
  }

  it('is put between what was said before and after it', () => {
    const { turns } = watched([asks('first'), answers('one'), asks('third'), answers('three')]);
    const second = { startedAt: START + 1.2 * SECOND, endedAt: START + 1.8 * SECOND };
    mergeSpan(
      turns,
      span({ ...second, asked: [asks('second')], answered: [answers('two'), answers('more')] }),
    );
    const wanted = ['first', 'one', 'second', 'two', 'more', 'third', 'three'].map((text) => hashes.of(text));
    deepEqual(
      turns.map(({ hash }) => hash),
      wanted,
    );
  });
});

describe('a call of a conversation whose turns were erased', () => {
  const erasedAt = START + 10 * SECOND;
  const options = { forgotten: true, erasedAt };
  const before = [asks('first'), answers('one'), asks('second'), answers('two')];
  const call = (history: readonly HashedMessage[], second: number): HashedSpan =>
    span({
      startedAt: START + second * SECOND,
      endedAt: START + (second + 1) * SECOND,
      asked: [...history, asks(`question at ${second}`)],
      answered: [answers(`answer at ${second}`)],
    });
  const contents = (added: readonly { content: string }[]): string[] => added.map(({ content }) => content);

  it('counts nothing of its history, also behind a late turn from before', () => {
    const turns: Turn[] = [];
    mergeSpan(turns, { ...call([], 1), asked: [asks('late')], answered: [answers('one')] }, options);
    deepEqual(contents(mergeSpan(turns, call(before, 11), options)), ['question at 11', 'answer at 11']);
  });

  it('counts what was said since, if only the history of a later call has it', () => {
    const turns: Turn[] = [];
    mergeSpan(turns, call(before, 11), options);
    const since = [asks('question at 11'), answers('answer at 11'), asks('unseen'), answers('too')];
    deepEqual(contents(mergeSpan(turns, call([...before, ...since], 13), options)), [
      'unseen',
      'too',
      'question at 13',
      'answer at 13',
    ]);
  });
});
