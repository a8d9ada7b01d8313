/** The language of a session, told from what its user says first. Covered by test/reader/conversations/session-text.test.ts. */
import { FLAG, LINK, listOf, record, TEXT } from '../../domain/record-codec.ts';
import { truncate } from '../../domain/truncate.ts';
import type { DetectLanguage } from '../document/detect.ts';

/** User text that language is told from, UTF-16 units; past it the answer stands. */
const SAMPLE = 240;

export interface LanguageSample {
  text: string;
  isFull: boolean;
  /** ISO 639-1; '' while there is none. */
  language: string;
  /** Where the turns end that language was not told from yet. */
  untold: number[];
}

export const LANGUAGE_SAMPLE = record<LanguageSample>({
  text: TEXT,
  isFull: FLAG,
  language: TEXT,
  untold: listOf(LINK),
});

export function addToSample(sample: LanguageSample, content: string): void {
  if (sample.isFull) return;
  const longer = sample.text === '' ? content : `${sample.text}\n${content}`;
  sample.isFull = longer.length >= SAMPLE;
  sample.text = truncate(longer, SAMPLE);
  sample.untold.push(sample.text.length);
}

/** `detect` is asked turn by turn, so that the answer does not depend on when this is called. */
export function languageOf(sample: LanguageSample, detect: DetectLanguage): string | null {
  for (const end of sample.untold)
    sample.language = detect(sample.text.slice(0, end), sample.language || null) ?? '';
  sample.untold = [];
  if (sample.isFull) sample.text = '';
  return sample.language || null;
}
