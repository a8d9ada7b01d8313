/**
 * Limits and cleans the texts of answers, which may come from any server.
 *
 * Test: test/doors/client/hostile.test.ts.
 */
import { UndertoneError } from './errors.ts';

/** Bytes of an error answer that are read. */
export const MOST_ERROR_BYTES = 1_000_000;
const MOST_CODE = 64;
const MOST_TEXT = 1000;

/**
 * Characters replaced in texts of answers: control characters, which a terminal obeys; line and paragraph separators,
 * which would start a line of a log; and direction marks, which reorder what a person reads.
 */
const UNSEEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Makes a text of an answer safe to display and log. */
export function plain(text: string, most = MOST_TEXT): string {
  // Cut before and after: replacing costs time by length.
  const visible = text.slice(0, 2 * most).replace(UNSEEN, ' ');
  return text.length > most || visible.length > most ? `${visible.slice(0, most)}…` : visible;
}

/** True if the text has the form of an error code. */
export function isCode(text: unknown): text is UndertoneError['code'] {
  return typeof text === 'string' && text.length <= MOST_CODE && /^[A-Z][A-Z_]*$/.test(text);
}

export function tooLarge(mostBytes: number): UndertoneError {
  const most = `${Math.floor(mostBytes / 1e6)} MB`;
  const message = `The answer has more than ${most} (maxAnswerBytes): ask for less at once, or allow more.`;
  return new UndertoneError('UNEXPECTED_ANSWER', message);
}

/** Reads the text of an answer. Throws an UndertoneError beyond `mostBytes`, and ends the request. */
export async function boundedText(response: Response, mostBytes: number): Promise<string> {
  // A caller's `fetch` may return less than a Response.
  if (response.body === null || response.body === undefined) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > mostBytes) throw tooLarge(mostBytes);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // The stream has ended, or its rest is not needed.
    void reader.cancel().catch(() => undefined);
  }
}
