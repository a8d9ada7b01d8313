/**
 * Hides placeholders of masked values, so that they appear in no topic name and no session text.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { placeholdersIn } from '../../domain/placeholders.ts';
import type { Reading } from './reading.ts';

/** Adds the spans of placeholders. */
export function findPlaceholders({ text, spans }: Reading): void {
  for (const place of placeholdersIn(text)) spans.push({ ...place, kind: 'known' });
}
