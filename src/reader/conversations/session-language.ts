/**
 * The language of a session, detected in the user's first turns. Keeps the invariant that the answer does not depend on
 * when it is asked for.
 *
 * Test: test/reader/conversations/session-text.test.ts.
 */
import { FLAG, LINK, listOf, record, TEXT } from '../../domain/record-codec.ts';
import { truncate } from '../../domain/truncate.ts';
import type { DetectLanguage } from '../document/detect.ts';

/** Length of the user's text in which language is detected, UTF-16 units; beyond it the answer is final. */
const SAMPLE = 240;

export interface LanguageSample {
  text: string;
  isFull: boolean;
  /** ISO 639-1; '' while it is unknown. */
  language: string;
  /** Ends of turns in the sample in which language is not yet detected. */
  untold: number[];
}

export const LANGUAGE_SAMPLE = record<LanguageSample>({
  text: TEXT,
  isFull: FLAG,
  language: TEXT,
  untold: listOf(LINK),
});

/** Adds a user turn, without personal data, until the sample is full. */
export function addToSample(sample: LanguageSample, content: string): void {
  if (sample.isFull) return;
  const longer = sample.text === '' ? content : `${sample.text}\n${content}`;
  sample.isFull = longer.length >= SAMPLE;
  sample.text = truncate(longer, SAMPLE);
  sample.untold.push(sample.text.length);
}

/**
 * Returns the language, or null while it is unknown. Calls `detect` turn by turn, so the answer does not depend on when
 * this is called.
 */
export function languageOf(sample: LanguageSample, detect: DetectLanguage): string | null {
  for (const end of sample.untold)
    sample.language = detect(sample.text.slice(0, end), sample.language || null) ?? '';
  sample.untold = [];
  if (sample.isFull) sample.text = '';
  return sample.language || null;
}
