import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { AttributeValue } from '../span.ts';

/** What OpenInference writes where a user hides content. */
const REDACTED = '__REDACTED__';

/**
 * The messages in an attribute: JSON, structured, or a bare text that `role` said; undefined: it is not there.
 * JSON that an exporter has cut (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT) is counted, never taken for a text.
 */
export function recorded(
  value: AttributeValue | undefined,
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  if (value === undefined || value === null || value === '' || value === REDACTED) return undefined;
  if (typeof value === 'string' && isBrokenJson(value)) {
    omitted.add('JSON that was cut');
    return [];
  }
  return messagesOf(value, role, omitted) ?? [];
}

function isBrokenJson(text: string): boolean {
  if (!/^\s*(?:\{\s*"|\[\s*[{["])/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
