import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { dated, readDemoConversations } from '../../../src/doors/demo/conversations.ts';

const FILE = resolve(import.meta.dirname, '../../../examples/demo/conversations.jsonl');
const NOW = Date.UTC(2026, 4, 20, 15, 30);

describe('the demo conversations', () => {
  it('are at least 120 sessions, 600 messages and 25 end users, several of whom come back', async () => {
    const conversations = await readDemoConversations(FILE);
    const sessionsOf = new Map<string, number>();
    for (const { user } of conversations) sessionsOf.set(user, (sessionsOf.get(user) ?? 0) + 1);
    equal(conversations.length >= 120, true);
    equal(conversations.reduce((sum, { turns }) => sum + turns.length, 0) >= 600, true);
    equal(sessionsOf.size >= 25, true);
    equal([...sessionsOf.values()].filter((count) => count >= 3).length >= 10, true);
  });

  it('have ids of their own, and no two start with the same words', async () => {
    const conversations = await readDemoConversations(FILE);
    equal(new Set(conversations.map(({ id }) => id)).size, conversations.length);
    equal(new Set(conversations.map(({ turns }) => turns[0])).size, conversations.length);
  });

  it('are of two plans, each end user of one, and of two versions, the new one rolled out over two weeks', async () => {
    const conversations = await readDemoConversations(FILE);
    const plans = new Map(conversations.map(({ user, plan }) => [user, plan]));
    for (const { user, plan } of conversations) equal(plan, plans.get(user));
    for (const name of ['free', 'pro'])
      equal(conversations.filter(({ plan }) => plan === name).length >= 30, true, name);
    const daysOf = (name: string): number[] =>
      conversations.filter(({ version }) => version === name).map(({ at }) => parseInt(at, 10));
    // Days on which both occur can be compared; nobody goes back to the old version.
    equal(Math.max(...daysOf('2.4')) - Math.min(...daysOf('2.5')) >= 10, true);
    for (const { user, version, at } of conversations)
      equal(
        version === '2.5' ||
          conversations.every(
            (other) =>
              other.user !== user || other.version === '2.4' || parseInt(other.at, 10) >= parseInt(at, 10),
          ),
        true,
      );
    equal(daysOf('2.4').length + daysOf('2.5').length, conversations.length);
  });

  it('spread over several weeks, all of them before now', async () => {
    const starts = (await readDemoConversations(FILE)).map((conversation) =>
      dated(conversation, NOW).turns.map(({ createdAt }) => Date.parse(createdAt)),
    );
    equal(Math.max(...starts.flat()) < NOW, true);
    const weeks = new Set(starts.flat().map((at) => Math.floor(at / (7 * 86_400_000))));
    equal(weeks.size >= 5, true);
  });

  it('are written in at least five languages', async () => {
    const first = (await readDemoConversations(FILE)).map(({ turns }) => turns.join(' '));
    const marks = {
      en: /\b(?:the|my|order)\b/,
      es: /\b(?:pedido|quiero|tarjeta)\b/,
      fr: /\b(?:commande|merci|votre)\b/i,
      de: /\b(?:bestellung|ich|danke)\b/i,
      pt: /\b(?:encomenda|obrigad[oa]|você)\b/i,
      zh: /[订货谢]/,
      ja: /[ぁ-ん]/,
    };
    for (const [language, mark] of Object.entries(marks)) {
      equal(first.filter((text) => mark.test(text)).length >= 3, true, language);
    }
  });
});

describe('dated', () => {
  const conversation = {
    id: 'c1',
    user: 'ana',
    at: '-3 09:05',
    plan: 'pro',
    version: '2.5',
    turns: ['Hello there', 'Hi!', 'Thanks'],
  };

  it('gives each turn a later time, the same for the whole day of now', () => {
    const result = dated(conversation, NOW);
    deepEqual(result, dated(conversation, NOW + 3 * 3_600_000));
    deepEqual(
      result.turns.map(({ role, createdAt }) => [role, createdAt]),
      [
        ['user', '2026-05-17T09:05:00.000Z'],
        ['assistant', '2026-05-17T09:05:01.560Z'],
        ['user', '2026-05-17T09:05:11.660Z'],
      ],
    );
    deepEqual([result.userId, result.id], ['ana', 'c1']);
    deepEqual(result.metadata, { plan: 'pro', version: '2.5' });
  });
});

describe('readDemoConversations', () => {
  it('names the line that is no demo conversation', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'undertone-demo-test-'));
    try {
      const path = join(folder, 'demo.jsonl');
      const good = JSON.stringify({
        id: 'a',
        user: 'b',
        at: '-1 10:00',
        plan: 'pro',
        version: '2.5',
        turns: ['x'],
      });
      await writeFile(path, `${good}\n${good.replace('-1 10:00', '+1 10:00')}\n`);
      await rejects(readDemoConversations(path), /demo\.jsonl:2: not a demo conversation/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
