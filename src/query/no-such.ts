/**
 * The error for an id that an instance does not have: the same where another instance has it.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import { AppError } from '../errors.ts';

export function noSuch(words: string, id: string): AppError {
  return new AppError('NOT_FOUND', `There is no ${words} ${id} in this instance.`);
}
