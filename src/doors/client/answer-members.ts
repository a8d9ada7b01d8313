/**
 * Reads members of answers. Throws UNEXPECTED_ANSWER where one is missing, so that a foreign server is not mistaken for
 * the service.
 *
 * Test: test/doors/client/hostile.test.ts.
 */
import type { Ingested } from './answers.ts';
import { UndertoneError } from './errors.ts';
import type { Answer, Json } from './transport.ts';

/** Builds the result of an ingest. Throws UNEXPECTED_ANSWER without its ids. */
export function ingestedIn(
  json: Json,
  { position, warnings }: Pick<Ingested, 'position' | 'warnings'>,
): Ingested {
  return { instanceId: textIn(json, 'instanceId'), sessionId: textIn(json, 'sessionId'), position, warnings };
}

/** Returns `X-Stream-Position`, or null if it is absent or invalid. */
export function positionOf({ headers }: Pick<Answer, 'headers'>): number | null {
  const position = headers.get('x-stream-position');
  return position !== null && /^\d{1,15}$/.test(position) ? Number(position) : null;
}

/** Returns a text member. Throws UNEXPECTED_ANSWER if it is missing. */
export function textIn(json: Json | null, member: string): string {
  const value = json?.[member];
  if (typeof value === 'string') return value;
  throw unexpected(member);
}

export function unexpected(member: string): UndertoneError {
  return new UndertoneError(
    'UNEXPECTED_ANSWER',
    `The answer has no ${member}: Undertone does not run there.`,
  );
}
