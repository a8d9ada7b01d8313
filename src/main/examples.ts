import type { ExampleOf } from '../query/why/why-reader.ts';

/** Loads what hides personal data in quotes: its lexicons cost every start 0.1 s, and most processes quote nobody. */
export async function examples(): Promise<ExampleOf> {
  return (await import('../reader/personal/example.ts')).exampleOf;
}
