/**
 * A value that exists only some time after the process starts.
 *
 * Test: test/main/web.test.ts.
 */
import { unavailable } from '../errors.ts';

/** Holds the value once it is set. */
export class Later<Value> {
  #value: Value | null = null;

  set(value: Value): Value {
    this.#value = value;
    return value;
  }

  get orNull(): Value | null {
    return this.#value;
  }

  /** @throws AppError with 503 until the value is set */
  get(): Value {
    if (this.#value !== null) return this.#value;
    throw unavailable('The service is starting. Try again in a moment.');
  }
}
