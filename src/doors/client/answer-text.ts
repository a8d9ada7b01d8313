/** What is read of an answer that may come from anybody. */
import { UndertoneError } from './errors.ts';

/** Of an answer that is an error, so much tells what it is. */
export const MOST_ERROR_BYTES = 1_000_000;
const MOST_CODE = 64;
const MOST_SAID = 1000;

/**
 * Stands in for characters that a terminal obeys, that begin a line of a log, or that turn the order of what is read:
 * control characters, line and paragraph separators, and the marks of writing direction.
 */
const UNSEEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A text of an answer as it can be shown and logged. */
export function plain(text: string, most = MOST_SAID): string {
  // Cut twice: a replacement costs by length.
  const shown = text.slice(0, 2 * most).replace(UNSEEN, ' ');
  return text.length > most || shown.length > most ? `${shown.slice(0, most)}…` : shown;
}

/** Whether a text may be a code of an error. */
export function isCode(text: unknown): text is UndertoneError['code'] {
  return typeof text === 'string' && text.length <= MOST_CODE && /^[A-Z][A-Z_]*$/.test(text);
}

export function tooLarge(mostBytes: number): UndertoneError {
  const most = `${Math.floor(mostBytes / 1e6)} MB`;
  const message = `The answer has more than ${most} (maxAnswerBytes): ask for less at once, or allow more.`;
  return new UndertoneError('UNEXPECTED_ANSWER', message);
}

/** The text of an answer. Throws an UndertoneError beyond so many bytes, and ends the request. */
export async function boundedText(response: Response, mostBytes: number): Promise<string> {
  // A `fetch` of the caller's may answer with less than a Response.
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
    // It has ended already, or nobody wants the rest.
    void reader.cancel().catch(() => undefined);
  }
}
