/**
 * Splits a stream into lines and parses them. Keeps the invariant that no line exceeds `maxAnswerBytes`.
 *
 * Test: test/doors/client/hostile.test.ts.
 */
import { tooLarge } from './answer-text.ts';
import { UndertoneError } from './errors.ts';
import { LONGEST_MS } from './transport.ts';

export interface LineLimits {
  /** Longest pause between two chunks of the stream. */
  readonly timeoutMs: number;
  /** Maximum characters of a line. */
  readonly maxAnswerBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the non-empty lines of a UTF-8 stream as they arrive. The stream ends when the caller stops or the signal
 * aborts; the signal's reason is thrown. Throws an UndertoneError when the stream breaks off or stalls, or a line is
 * too long.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  limits: LineLimits,
): AsyncGenerator<string, void, undefined> {
  const { signal, maxAnswerBytes } = limits;
  const reader = stream.getReader();
  const abort = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', abort);
  const decoder = new TextDecoder();
  /** Parts of the unfinished line, and their length. */
  let [rest, length]: [string[], number] = [[], 0];
  try {
    for (;;) {
      const { done, value } = await next(reader, limits);
      const lines = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split('\n');
      const last = lines.pop() ?? '';
      for (const line of lines) {
        const whole = rest.join('') + line;
        [rest, length] = [[], 0];
        if (whole !== '') yield whole;
      }
      rest.push(last);
      length += last.length;
      if (length > maxAnswerBytes) throw tooLarge(maxAnswerBytes);
      if (!done) continue;
      if (length > 0) yield rest.join('');
      return;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await reader.cancel().catch(() => undefined);
  }
}

async function next(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { signal, timeoutMs }: LineLimits,
): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Error(`nothing came within ${timeoutMs} ms`));
    timer = setTimeout(fail, Math.min(timeoutMs, LONGEST_MS));
  });
  try {
    const result = await Promise.race([reader.read(), silence]);
    signal?.throwIfAborted();
    return result;
  } catch (cause) {
    signal?.throwIfAborted();
    throw brokenOff(cause);
  } finally {
    clearTimeout(timer);
  }
}

/** Parses JSON. Throws an UndertoneError when it is cut off. */
export function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw brokenOff(cause);
  }
}

function brokenOff(cause: unknown): UndertoneError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UndertoneError('UNREACHABLE', `The answer broke off: ${reason}`, { cause });
}
