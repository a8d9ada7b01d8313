import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDemoConversations } from '../../../src/doors/demo/conversations.ts';
import { READ_TOGETHER } from '../../../src/reader/acts/finding.ts';
import { wordsOfAnswer } from '../../../src/reader/personal/known-words.ts';
import { RedactedAhead, redacted } from '../../../src/reader/personal/redact.ts';
import { NOTHING_FOUND } from '../../../src/reader/threads/stages.ts';
import { TurnReader } from '../../../src/reader/threads/turn-reader.ts';
import { TurnReading } from '../../../src/reader/threads/turn-reading.ts';
import type { Turn } from '../../../src/domain/facts.ts';

const DEMO = join(import.meta.dirname, '../../../examples/demo/conversations.jsonl');

function turn(role: Turn['role'], content: string, session = 1): Turn {
  const ids = { position: 1, instance: 1, instanceId: '', session, sessionId: '', user: null };
  return { ...ids, role, content, at: 0 };
}

function placesRead(turns: readonly Turn[], from = 0): number[] {
  const places: number[] = [];
  const reader = new TurnReader({ onText: (place) => places.push(place), onShared: () => undefined });
  const found = turns.map(() => NOTHING_FOUND);
  equal(reader.read(turns, found, from, () => false).length, Math.min(READ_TOGETHER, turns.length - from));
  return [...new Set(places)];
}

describe('TurnReader', () => {
  it('tells of each turn by its place in the batch, and of none that says nothing', () => {
    const turns = [turn('user', 'Where is it?'), turn('other', 'noted'), turn('assistant', 'Here.')];
    deepEqual(placesRead(turns), [0, 2]);
    const many = Array.from({ length: READ_TOGETHER + 2 }, (_, place) => turn('user', `Number ${place}`));
    deepEqual(placesRead(many, READ_TOGETHER), [READ_TOGETHER, READ_TOGETHER + 1]);
  });

  it('reads what comes again once, of users and assistants apart', () => {
    const reader = new TurnReader({ onText: () => undefined, onShared: () => undefined });
    const turns = [
      turn('user', 'Cancel it.'),
      turn('assistant', 'Cancel it.'),
      turn('user', 'Cancel it.', 2),
    ];
    const [user, assistant, again] = reader.read(
      turns,
      turns.map(() => NOTHING_FOUND),
      0,
      () => false,
    );
    equal(user, again);
    notEqual(user, assistant);
  });
});

describe('TurnReading', () => {
  it('hides in an answer whom the session knows', () => {
    const reading = new TurnReading({ content: 'Thank you, Ozan. It is on its way.' }, NOTHING_FOUND);
    const known = wordsOfAnswer('Ozan');
    equal(reading.redactedAmong(known).text, 'Thank you, •••. It is on its way.');
    equal(reading.redactedAmong(known).edges.text, 'Thank you, •••. It is on its way.');
    equal(reading.redactedAmong([]), reading.redactedAmong([]));
  });

  it('shows the beginning of a long answer, and goes on from both its ends', () => {
    const content = `First things first. ${'and so on '.repeat(400)}Shall I go on, Ozan?`;
    const { text, edges: edgesText } = new TurnReading({ content }, NOTHING_FOUND).redactedAmong(
      wordsOfAnswer('Ozan'),
    );
    equal(text, content.slice(0, 2000));
    equal(edgesText.text, `${content.slice(0, 160)}\n${content.replace('Ozan', '•••').slice(-160)}`);
  });
});

describe('a text that is redacted ahead', () => {
  it('is what it would be with what is known, for each turn of the demo', async () => {
    const contents = (await readDemoConversations(DEMO)).flatMap(({ turns }) => turns);
    for (const [place, content] of contents.entries()) {
      const ahead = new RedactedAhead(content);
      for (const other of [place, place + 1, place + 7]) {
        const known = wordsOfAnswer(contents[other % contents.length] as string).slice(0, 32);
        const { text, names } = ahead.with(known);
        deepEqual({ text, names }, redacted(content, { known }));
      }
    }
  });
});
