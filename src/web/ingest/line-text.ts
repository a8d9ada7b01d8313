/**
 * Texts of one line in bodies of requests.
 *
 * Test: test/web/ingest/curation-body.test.ts.
 */
import { z } from 'zod';
import { isPlainName, NAME_RULE } from '../../domain/printable.ts';

/** Collapses white space, so that a person's text becomes one line. */
export function tidy(text: string): string {
  return text.toWellFormed().replace(/\s+/gu, ' ').trim();
}

/** Schema of a one-line text of at most `longest` UTF-16 units. */
export function line(longest: number) {
  return z
    .string('must be a string')
    .refine((text) => isPlainName(tidy(text)), NAME_RULE)
    .refine((text) => tidy(text).length <= longest, `must be at most ${longest} characters long`)
    .meta({ maxLength: longest });
}
