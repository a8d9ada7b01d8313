/** Placeholders of masked values count as hidden where a text is shown, so that they name no topic and no session. */
import { placeholdersIn } from '../../domain/placeholders.ts';
import type { Reading } from './reading.ts';

/** Marks placeholders as personal. */
export function findPlaceholders({ text, spans }: Reading): void {
  for (const place of placeholdersIn(text)) spans.push({ ...place, kind: 'known' });
}
