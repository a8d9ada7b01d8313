/**
 * The one door for personal data: every text that is shown or kept for being shown passes it. Rules find the parts of a
 * text that name a person or what belongs to one, in time proportional to its length.
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

/** Stands where personal data was: no word of any language, and no end of a sentence. */
export const HIDDEN = '•••';

export interface RedactOptions {
  /** Words that stand for a person of the session, as `wordsOfId` and `Redacted.names` give them. */
  readonly known?: KnownWords;
}

export interface Redacted {
  readonly text: string;
  /** Words of the names that were found, for `known` of later texts of the session. */
  readonly names: readonly number[];
}

/** The parts of a text that hold personal data, in order, none of which overlap. */
export function personalSpans(text: string, { known = [] }: RedactOptions = {}): Span[] {
  return mergedSpans(readPersonal(text, known).spans);
}

/** The parts of a text that hold personal data, as the rules find them: in any order, and they may overlap. */
export function personalParts(
  text: string,
  known: KnownWords,
): { readonly spans: readonly Span[]; readonly names: readonly number[] } {
  const reading = readPersonal(text, known);
  return { spans: reading.spans, names: namesIn(reading) };
}

/** A text without personal data. Texts without any are given back as they are. */
export function redact(text: string, options: RedactOptions = {}): string {
  return redacted(text, options).text;
}

/** As `redact`, with the names that were found. */
export function redacted(text: string, { known = [] }: RedactOptions = {}): Redacted {
  return redactedBy(readPersonal(text, known));
}

/** A text redacted before it is known what is known: of all but a few, known words change nothing. */
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

  /** The same as `redacted` of the text gives, with what is known now. */
  with(known: KnownWords): Redacted {
    const isHeld = known.length > 0 && this.#words.some((word) => known.includes(word));
    return isHeld ? redacted(this.#original, { known }) : this;
  }
}

function redactedBy(reading: Reading): Redacted {
  const { text } = reading;
  if (reading.spans.length === 0) return { text, names: [] };
  let shown = '';
  let end = 0;
  for (const span of mergedSpans(reading.spans)) {
    const between = text.slice(end, span.start);
    // Parts of one value, such as first and last name, are shown as one.
    shown += end > 0 && /^[\s,.-]{0,2}$/u.test(between) ? '' : `${between}${HIDDEN}`;
    end = span.end;
  }
  return { text: shown + text.slice(end), names: namesIn(reading) };
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
