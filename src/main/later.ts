import { AppError } from '../errors.ts';

/** Something that is there only a while after the process has started. Covered by test/main/web.test.ts. */
export class Later<Value> {
  #value: Value | null = null;

  /** From now on it is there. */
  set(value: Value): Value {
    this.#value = value;
    return value;
  }

  get orNull(): Value | null {
    return this.#value;
  }

  /** @throws AppError with 503 as long as it is not there */
  get(): Value {
    if (this.#value !== null) return this.#value;
    throw new AppError('SERVICE_UNAVAILABLE', 'The service is starting. Try again in a moment.', {
      retryAfter: 1,
    });
  }
}
