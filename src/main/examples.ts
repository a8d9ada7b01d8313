/**
 * Loads the redaction of quotes on demand.
 *
 * Test: test/e2e/why-rules.test.ts.
 */
import type { BriefReaderOptions } from '../query/briefs/brief-reader.ts';
import type { ExampleOf } from '../query/why/why-reader.ts';

/** Its lexicons cost 0.1 s, and most processes quote nobody. */
export async function examples(): Promise<ExampleOf> {
  return (await import('../reader/personal/example.ts')).exampleOf;
}

/** Loads the search for what requests hold, which has the same lexicons. */
export const argumentsIn: BriefReaderOptions['argumentsIn'] = async () =>
  (await import('../reader/personal/arguments.ts')).argumentsIn;
