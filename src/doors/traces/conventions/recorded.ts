/**
 * Reads messages from attributes in the forms that all conventions use.
 *
 * Test: test/doors/traces/conventions/whole-values.test.ts.
 */
import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { AttributeValue } from '../span.ts';
import { isObject } from '../values.ts';

/** Written by OpenInference in place of hidden content. */
const REDACTED = '__REDACTED__';
/** Start of JSON; no spoken text begins like this. */
const JSON_BEGINS = /^\s*(?:\{\s*"|\[\s*[{["])/;

/**
 * Returns the messages of an attribute: JSON, structured, or a bare text of `role`; undefined if it is absent. JSON
 * that an exporter cut (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT) is counted and never read as text.
 */
export function recorded(
  value: unknown,
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  if (value === undefined || value === null || value === '' || value === REDACTED) return undefined;
  const inner = parsed(value);
  if (inner === value && typeof value === 'string' && JSON_BEGINS.test(value)) {
    omitted.add('JSON that was cut');
    return [];
  }
  const messages = messagesOf(inner, role, omitted);
  if (messages === null) omitted.add('value without messages');
  return messages ?? [];
}

/**
 * Selects from texts without roles, as Spring AI lists them: the last prompt (the question), or the first answer.
 * Returns other values unchanged.
 */
export function ofTexts(value: unknown, role: 'user' | 'assistant'): unknown {
  const texts = parsed(value);
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return value;
  const isNonEmpty = (text: string): boolean => text.trim() !== '';
  return role === 'user' ? texts.findLast(isNonEmpty) : texts.find(isNonEmpty);
}

/** Returns a text as a message, even if it looks like JSON; undefined if absent. */
export function textMessage(
  value: AttributeValue | undefined,
  role: 'user' | 'assistant',
): readonly Message[] | undefined {
  return typeof value === 'string' && value !== REDACTED ? [{ role, content: value }] : undefined;
}

/** Parses JSON; returns other values unchanged. */
export function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Returns the list if the content is a JSON list of parts; other texts unchanged. */
export function contentOf(value: unknown): unknown {
  const parts = parsed(value);
  const isList = Array.isArray(parts) && parts.length > 0 && parts.every(isObject);
  return isList && parts.every((part) => 'type' in part || 'text' in part) ? parts : value;
}
