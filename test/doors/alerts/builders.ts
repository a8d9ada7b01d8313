import type { Firing } from '../../../src/doors/alerts/evaluation.ts';
import type { EntityFigures } from '../../../src/doors/alerts/figures.ts';
import type { Message } from '../../../src/doors/alerts/outbox.ts';
import type { Condition, Counted, Rule } from '../../../src/doors/alerts/rule.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';

export const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
export const RULE = '0192f0a0-0000-7000-8000-00000000000c';
export const TOPIC = '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d';
/** Sunday, 22 November 2026, 14:05 UTC, milliseconds. */
export const NOW = Date.UTC(2026, 10, 22, 14, 5);
/** The bytes 1 to 32. */
export const SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, index) => index + 1)).toString('base64')}`;

export const COUNT = {
  kind: 'count',
  groupBy: 'TOPIC',
  window: 'DAY',
  atLeast: 40,
} as const satisfies Condition;

/** An alert with every field filled, made in August. */
export function rule(parts: Partial<Rule> = {}): Rule {
  return {
    id: RULE,
    instanceId: INSTANCE,
    name: 'Many cancellations',
    condition: COUNT,
    delivery: { url: 'https://example.com/hook', format: 'undertone', quotes: false, secret: SECRET },
    timeZone: 'UTC',
    createdAt: Date.UTC(2026, 7, 1),
    bodyDigest: null,
    disabled: null,
    ...parts,
  };
}

/** A firing of today about the topic ‘Cancel order’. */
export function firing(parts: Partial<Firing> & { readonly condition?: Condition } = {}): Firing {
  const { condition = COUNT, ...rest } = parts;
  const window = 'window' in condition ? condition.window : 'DAY';
  return {
    id: 'f0000000-0000-5000-8000-000000000001',
    rule: rule({ condition }),
    window,
    span: localBucketAt(window, parts.rule?.timeZone ?? 'UTC', NOW * 1000),
    isOpen: true,
    entity: entity(),
    value: 42,
    bound: 40,
    ...rest,
  };
}

export function entity(
  parts: Partial<EntityFigures> & { readonly groupBy?: Counted } = {},
): EntityFigures & { readonly groupBy: Counted } {
  return { groupBy: 'TOPIC', id: TOPIC, name: 'Cancel order', sessions: 42, ...parts };
}

/** A message that waits. */
export function message(parts: Partial<Message> = {}): Message {
  return {
    id: 'f0000000-0000-5000-8000-000000000001',
    instanceId: INSTANCE,
    ruleId: RULE,
    type: 'alert',
    body: '{"type":"alert.fired"}',
    text: 'It came up.',
    createdAt: NOW,
    state: 'pending',
    attempts: 0,
    nextAt: NOW,
    last: null,
    ...parts,
  };
}
