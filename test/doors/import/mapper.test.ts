import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DuplicateIds, mapValue, sourceOfFile, usersOf } from '../../../src/doors/import/mapper.ts';
import type { Conversation, MappedLine } from '../../../src/doors/import/mapper.ts';

function map(value: unknown, duplicates = new DuplicateIds()): MappedLine {
  return mapValue(value, { line: 7, source: 'chats', duplicates });
}

function conversationOf(value: unknown): Conversation {
  const mapped = map(value);
  if ('fault' in mapped) throw new Error(mapped.fault);
  return mapped.conversation;
}

const question = { role: 'user', content: 'Where is my parcel?' };
const answer = { role: 'assistant', content: 'On its way.' };

/** The end user that is made up for source `shop` and id `d1`: the same in every import, without a word of either. */
const OF_SHOP_D1 = '0b391d70-1acf-57d7-8644-90fef155e260';

describe('mapValue', () => {
  it('maps a dialogue with source, id and turns, and leaves labels behind', () => {
    const line = {
      id: 'd1',
      source: 'shop',
      lang: 'en',
      turns: [question, answer],
      labels: { turn_acts: ['a', 'b'] },
    };
    deepEqual(map(line), {
      conversation: {
        line: 7,
        source: 'shop',
        id: 'd1',
        isAnonymous: true,
        messages: [
          { content: 'Where is my parcel?', role: 'user', userId: OF_SHOP_D1 },
          { content: 'On its way.', role: 'assistant' },
        ],
        places: ['turns.0', 'turns.1'],
        feedback: [],
        session: { externalId: 'd1', source: 'shop', id: 'd1' },
      },
      emptyTurns: [],
    });
  });

  it('takes the source of a line without one from the file, and its id from the line', () => {
    const { source, id, messages } = conversationOf({ turns: [{ ...question, sat: [3, 4], act: 'ask' }] });
    deepEqual([source, id, messages[0]?.userId], ['chats', 'line-7', '84b4fa24-508d-5cb8-bd2b-b8ef829b4f91']);
    equal('externalId' in conversationOf({ turns: [question] }).session, false);
  });

  it('carries user ids, times and metadata of each turn', () => {
    const { messages } = conversationOf({
      id: 5,
      messages: [
        { ...question, userId: 'ana', createdAt: '2026-03-01T09:30:00Z', metadata: { channel: 'web' } },
        { ...answer, userId: 'bot', createdAt: '2026-03-01T09:30:04.5Z' },
      ],
    });
    deepEqual(messages, [
      { ...question, userId: 'ana', metadata: { channel: 'web', createdAt: '2026-03-01T09:30:00Z' } },
      { ...answer, userId: 'bot', metadata: { createdAt: '2026-03-01T09:30:04.5Z' } },
    ]);
  });

  it('reads times as people have them, from the turn or its metadata, which wins', () => {
    const at = '2026-03-01T09:30:00Z';
    const times: [unknown, string][] = [
      [at, at],
      ['2026-03-01', '2026-03-01T00:00:00.000Z'],
      ['2026-03-01T10:30:00+01:00', '2026-03-01T09:30:00.000Z'],
      [1_772_357_400, '2026-03-01T09:30:00.000Z'],
      [1_772_357_400.25, '2026-03-01T09:30:00.250Z'],
      [1_772_357_400_250, '2026-03-01T09:30:00.250Z'],
      ['1772357400', '2026-03-01T09:30:00.000Z'],
      ['1772357400.000001', '2026-03-01T09:30:00.000001Z'],
      ['1772357400250', '2026-03-01T09:30:00.250Z'],
      [100_000_000, '1973-03-03T09:46:40.000Z'],
      [100_000_000_000, '1973-03-03T09:46:40.000Z'],
    ];
    for (const [createdAt, read] of times) {
      const { messages } = conversationOf({
        id: 'x',
        turns: [
          { ...question, createdAt },
          { ...answer, createdAt: 'nonsense', metadata: { createdAt, a: 1 } },
        ],
      });
      deepEqual(
        messages.map(({ metadata }) => metadata),
        [{ createdAt: read }, { createdAt: read, a: 1 }],
      );
    }
  });

  for (const createdAt of ['20261101', 20261101, 0, -5, 1e14, '1', '2026-03-01T09:30:00', '', true, {}])
    it(`refuses ${JSON.stringify(createdAt)} as a time, saying where and what it may be`, () => {
      const mapped = map({ id: 'x', turns: [question, { ...answer, createdAt }] });
      const fault = 'fault' in mapped ? mapped.fault : 'accepted';
      equal(fault.startsWith(`turns.1.createdAt: ${JSON.stringify(createdAt)} must be a date`), true, fault);
    });

  it('fills user turns with the author stated for the line', () => {
    const { messages } = conversationOf({
      id: 'x',
      userId: 'ana',
      turns: [question, answer, { ...question, userId: 'bo' }],
    });
    deepEqual(
      messages.map(({ userId }) => userId),
      ['ana', undefined, 'bo'],
    );
  });

  it('invents no author beside those that the turns name', () => {
    const { messages } = conversationOf({ id: 'x', turns: [question, { ...question, userId: 'bo' }] });
    deepEqual(
      messages.map(({ userId }) => userId),
      [undefined, 'bo'],
    );
  });

  it('leaves empty turns out and names their places', () => {
    const mapped = map({
      id: 'x',
      turns: [{ role: 'user', content: ' \n' }, question, { role: 'assistant', content: null }],
    });
    if ('fault' in mapped) throw new Error(mapped.fault);
    deepEqual(mapped.emptyTurns, [0, 2]);
    equal(mapped.conversation.messages.length, 1);
    deepEqual(mapped.conversation.places, ['turns.1']);
  });

  it('gives the second line with the same source and id its own id, always the same', () => {
    const duplicates = new DuplicateIds();
    const ids = ['a', 'a', 'a#2', 'a', 'b'].map((id) => {
      const mapped = map({ id, turns: [question] }, duplicates);
      return 'fault' in mapped ? mapped.fault : mapped.conversation.id;
    });
    deepEqual(ids, ['a', 'a#2', 'a#2#2', 'a#3', 'b']);
  });

  const faults: readonly [string, unknown, RegExp][] = [
    ['a list', [], /^not a JSON object/],
    ['null', null, /^not a JSON object/],
    ['no turns', { id: 'x' }, /^turns: missing/],
    ['turns that are no list', { id: 'x', turns: 'hello' }, /^turns: missing/],
    ['an empty list of turns', { id: 'x', turns: [] }, /^turns: empty/],
    ['only empty turns', { id: 'x', turns: [{ role: 'user', content: '' }] }, /every turn is empty/],
    ['a turn that is no object', { id: 'x', turns: ['hello'] }, /^turns\.0:/],
    ['a missing role', { id: 'x', turns: [question, { content: 'hi' }] }, /^turns\.1\.role:/],
    ['a role that is no string', { id: 'x', turns: [{ role: 1, content: 'hi' }] }, /^turns\.0\.role:/],
    [
      'content that is no string',
      { id: 'x', messages: [{ role: 'user', content: 5 }] },
      /^messages\.0\.content:/,
    ],
    ['an empty user id', { id: 'x', turns: [{ ...question, userId: '' }] }, /^turns\.0\.userId:/],
    [
      'a day that does not exist',
      { id: 'x', turns: [{ ...question, createdAt: '2026-02-30T09:30:00Z' }] },
      /createdAt/,
    ],
    [
      'metadata that is no object',
      { id: 'x', turns: [{ ...question, metadata: [] }] },
      /^turns\.0\.metadata/,
    ],
    ['an id that is no name', { id: {}, turns: [question] }, /^id:/],
    ['an id too long to be kept', { id: 'x'.repeat(256), turns: [question] }, /^id: must be at most 255/],
    ['a source that is no name', { id: 'x', source: 4, turns: [question] }, /^source:/],
  ];
  for (const [name, value, reason] of faults) {
    it(`refuses ${name}, saying where`, () => {
      const mapped = map(value);
      match('fault' in mapped ? mapped.fault : 'accepted', reason);
    });
  }

  it('counts only the users of user turns', () => {
    const conversation = conversationOf({
      id: 'x',
      turns: [
        { ...question, role: 'Customer', userId: 'ana' },
        { ...answer, userId: 'bot' },
      ],
    });
    deepEqual([...usersOf(conversation)], ['ana']);
  });
});

describe('sourceOfFile', () => {
  it('is the name without folder and endings', () => {
    deepEqual(['/x/uss-mwoz.jsonl.gz', 'chats.json', 'a.b.ndjson', '.jsonl'].map(sourceOfFile), [
      'uss-mwoz',
      'chats',
      'a.b',
      '.jsonl',
    ]);
  });
});
