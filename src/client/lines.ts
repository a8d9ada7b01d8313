import { UndertoneError } from './errors.ts';

/**
 * The lines of a text in UTF-8, as they come; empty ones are left out. A caller who stops ends the stream, and so does
 * the signal, whose reason is thrown. Throws an UndertoneError when the stream breaks off.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const abort = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', abort);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await next(reader, signal);
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) if (line !== '') yield line;
      if (done) return;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await reader.cancel().catch(() => undefined);
  }
}

async function next(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
  try {
    const result = await reader.read();
    signal?.throwIfAborted();
    return result;
  } catch (cause) {
    signal?.throwIfAborted();
    throw brokenOff(cause);
  }
}

/** A value in JSON. Throws an UndertoneError when it is cut off. */
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
