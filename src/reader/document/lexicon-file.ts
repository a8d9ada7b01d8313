/**
 * Reads one file of `lexicon/` against its schema. Promises that a fault names its file and place.
 *
 * Test: test/reader/document/lexicon.test.ts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';

/** Folder name of a language, ISO 639-1 or 639-3; longer names hold files of no single language. */
const LANGUAGE = /^[a-z]{2,3}$/;

/** The files `<language>/<purpose>.json` of a directory, by language. */
export function languageFiles(
  directory: string,
  purpose: string,
): { readonly language: string; readonly path: string }[] {
  return readdirSync(directory)
    .filter((name) => LANGUAGE.test(name))
    .toSorted()
    .map((language) => ({ language, path: join(directory, language, `${purpose}.json`) }))
    .filter(({ path }) => existsSync(path));
}

/** Returns the content of a file. Throws SetupError, naming file and place, if it does not match its schema. */
export function readLexiconFile<Schema extends z.ZodType>(path: string, schema: Schema): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const reason =
      cause instanceof z.ZodError
        ? cause.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
        : 'is not JSON';
    throw new SetupError(`${path} is not usable (${reason}): correct it`, { cause });
  }
}

/** Reports a fault in one entry of a list. */
type Tell = (place: number, fault: string) => void;

/** Schema of a list of non-empty texts. `check` reports their faults; `least` is the fewest entries. */
export function listOf(
  check: (list: readonly string[], tell: Tell) => void = () => undefined,
  least = 0,
): z.ZodType<readonly string[]> {
  // Checks the list as a whole: lists are long, and one schema per entry takes ten times as long.
  return z
    .custom<readonly string[]>((value) => Array.isArray(value), 'is no list')
    .superRefine((list, context) => {
      const tell: Tell = (place, message) => context.addIssue({ code: 'custom', path: [place], message });
      if (list.length < least)
        context.addIssue({ code: 'custom', message: `has fewer than ${least} entries` });
      const noText = list.findIndex((entry: unknown) => typeof entry !== 'string' || entry === '');
      if (noText < 0) check(list, tell);
      else tell(noText, 'is no text, or an empty one');
    });
}
