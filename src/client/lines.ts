/**
 * The lines of a text in UTF-8, as they come; empty ones are left out. A caller who stops ends the stream, and so does
 * the signal, whose reason is thrown.
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
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
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
