/** Messages in attributes, in the ways in which all conventions write them. */
import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { AttributeValue } from '../span.ts';
import { isObject } from '../values.ts';

/** What OpenInference writes where a user hides content. */
const REDACTED = '__REDACTED__';
/** No text that somebody says begins like this. */
const JSON_BEGINS = /^\s*(?:\{\s*"|\[\s*[{["])/;

/**
 * The messages in an attribute: JSON, structured, or a bare text that `role` said; undefined: it is not there.
 * JSON that an exporter has cut (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT) is counted, never taken for a text.
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
 * Of texts without roles, as Spring AI lists them, the one that `role` said: the prompt ends with the question, and of
 * several answers to a call the first counts. Any other value as it is.
 */
export function ofTexts(value: unknown, role: 'user' | 'assistant'): unknown {
  const texts = parsed(value);
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return value;
  const isSaid = (text: string): boolean => text.trim() !== '';
  return role === 'user' ? texts.findLast(isSaid) : texts.find(isSaid);
}

/** A text that was said, whatever it looks like; undefined: it is not there. */
export function said(
  value: AttributeValue | undefined,
  role: 'user' | 'assistant',
): readonly Message[] | undefined {
  return typeof value === 'string' && value !== REDACTED ? [{ role, content: value }] : undefined;
}

/** What is written as JSON, as a value; anything else as it is. */
export function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Content that is a list of parts in JSON, as this list; any other text is what was said. */
export function contentOf(value: unknown): unknown {
  const parts = parsed(value);
  const isList = Array.isArray(parts) && parts.length > 0 && parts.every(isObject);
  return isList && parts.every((part) => 'type' in part || 'text' in part) ? parts : value;
}
