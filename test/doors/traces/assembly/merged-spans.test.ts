import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MergedSpans } from '../../../../src/doors/traces/assembly/merged-spans.ts';
import { UNSEALED } from '../../../support/memory-keys.ts';
import { decodeConversation, encodeConversation } from '../../../../src/doors/traces/assembly/records.ts';
import { Dice } from './exports.ts';

const LIMITS = { kept: 10, block: 3, page: 6 };

describe('digests of the spans of a conversation', () => {
  it('are known of the newest, and of all that may come again, in a bounded state', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const dice = new Dice(seed);
      const stored = new Map<number, ReadonlySet<string>>();
      let merged = new MergedSpans(LIMITS);
      let firstSequence = 1;
      for (let sequence = 1; sequence <= 300; sequence += 1) {
        merged.add(`span ${sequence}`, sequence);
        if (dice.chance(0.05)) firstSequence = sequence - dice.roll(sequence - firstSequence + 1);
        if (dice.chance(0.5)) continue;
        for (const { number, digests } of merged.shrink(firstSequence)) stored.set(number, digests);
        merged = new MergedSpans(LIMITS, merged.stored);
        const listed = merged.pages(firstSequence).map((number) => stored.get(number));
        for (let span = Math.min(firstSequence, Math.max(1, sequence - 9)); span <= sequence; span += 1) {
          const digest = `span ${span}`;
          ok(merged.has(digest) || listed.some((page) => page?.has(digest)), `${seed}: ${digest}`);
        }
        const count = merged.stored.blocks.reduce((sum, [, digests]) => sum + digests.length, 0);
        ok(count < LIMITS.kept + LIMITS.page + 2 * LIMITS.block, `${seed}: ${count} are kept`);
      }
    }
  });

  it('are read as earlier versions wrote them', () => {
    const conversation = { projectId: 'p', name: { instanceId: 'i', id: 'c' }, turns: [], outbox: [] };
    const old = JSON.stringify({ v: 1, ...conversation, forgotten: false, emissions: 1, merged: ['a', 'b'] });
    const { merged } = decodeConversation(
      encodeConversation(decodeConversation(old, UNSEALED), UNSEALED),
      UNSEALED,
    );
    deepEqual(merged.stored, { blocks: [[0, ['a', 'b']]], pages: [] });
  });
});
