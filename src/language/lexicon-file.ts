/** Reads one file of `lexicon/`. Covered by test/language/lexicon.test.ts. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SetupError } from '../errors.ts';

/** What a file holds. Throws SetupError, naming file and place, when it is not as its schema says. */
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
