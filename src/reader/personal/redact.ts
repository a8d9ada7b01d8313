/**
 * The only entrance to redaction: every text that is shown, or kept to be shown, passes it. Rules find the parts of a
 * text that identify a person. Takes linear time.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { findElectronic } from './electronic.ts';
import { findHolders } from './holders.ts';
import { findKnown, namesIn, wordHashes, type KnownWords } from './known-words.ts';
import { findNumbered } from './numbered.ts';
import { findNumbers } from './numbers.ts';
import { findPeople } from './people.ts';
import { findPeopleByRole } from './people-by-role.ts';
import { findPlaceholders } from './placeholders.ts';
import { findPlaces } from './places.ts';
import { Reading } from './reading.ts';
import { findSecrets } from './secrets.ts';
import { mergedSpans, type Span } from './spans.ts';
import { findUnspaced } from './unspaced.ts';
import { findUnspacedPlaces } from './unspaced-places.ts';

/** Replaces personal data. It is a word of no language and ends no sentence. */
export const HIDDEN = '•••';

export interface RedactOptions {
  /** Words for people of the session, from `wordsOfId` and `Redacted.names`. */
  readonly known?: KnownWords;
}

export interface Redacted {
  readonly text: string;
  /** Hashes of the words of names found, for `known` of later texts of the session. */
  readonly names: readonly number[];
}

/** Returns the spans of personal data, in order, without overlaps. */
export function personalSpans(text: string, { known = [] }: RedactOptions = {}): Span[] {
  return mergedSpans(readPersonal(text, known).spans);
}

/** Returns the spans of personal data as the rules found them, unordered and perhaps overlapping, and the names. */
export function personalParts(
  text: string,
  known: KnownWords,
): { readonly spans: readonly Span[]; readonly names: readonly number[] } {
  const reading = readPersonal(text, known);
  return { spans: reading.spans, names: namesIn(reading) };
}

/** Replaces personal data in a text. Returns a text without any unchanged. */
export function redact(text: string, options: RedactOptions = {}): string {
  return redacted(text, options).text;
}

/** Like `redact`, with the names found. */
export function redacted(text: string, { known = [] }: RedactOptions = {}): Redacted {
  return redactedBy(readPersonal(text, known));
}

/**
 * A text redacted before its session's known words are available. They change few texts, so the result is mostly final.
 */
export class RedactedAhead implements Redacted {
  readonly text: string;
  readonly names: readonly number[];
  readonly #original: string;
  readonly #words: readonly number[];

  constructor(text: string) {
    const reading = readPersonal(text, []);
    ({ text: this.text, names: this.names } = redactedBy(reading));
    this.#original = text;
    this.#words = wordHashes(reading);
  }

  /** Returns the same as `redacted` with these known words. */
  with(known: KnownWords): Redacted {
    const isHeld = known.length > 0 && this.#words.some((word) => known.includes(word));
    return isHeld ? redacted(this.#original, { known }) : this;
  }
}

function redactedBy(reading: Reading): Redacted {
  const { text } = reading;
  if (reading.spans.length === 0) return { text, names: [] };
  let redacted = '';
  let end = 0;
  for (const span of mergedSpans(reading.spans)) {
    const between = text.slice(end, span.start);
    // Adjacent parts of one value, such as first and last name, get one placeholder.
    redacted += end > 0 && /^[\s,.-]{0,2}$/u.test(between) ? '' : `${between}${HIDDEN}`;
    end = span.end;
  }
  return { text: redacted + text.slice(end), names: namesIn(reading) };
}

function readPersonal(text: string, known: KnownWords): Reading {
  const reading = new Reading(text);
  findElectronic(reading);
  findNumbers(reading);
  findNumbered(reading);
  findSecrets(reading);
  findPeople(reading);
  findHolders(reading);
  findPeopleByRole(reading);
  findPlaces(reading);
  findUnspaced(reading);
  findUnspacedPlaces(reading);
  findKnown(reading, known);
  findPlaceholders(reading);
  return reading;
}
