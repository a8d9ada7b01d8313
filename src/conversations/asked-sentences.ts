/** What a user turn asks for, in the user's own sentences. */
import type { Enrichment } from '../domain/facts.ts';
import { truncate } from '../domain/truncate.ts';
import { HIDDEN } from '../language/redact/redact.ts';
import { clausesOf, sentencesOf } from '../language/sentences.ts';
import { contentCount, PhraseSet, shownWordsOf } from '../language/shown/phrase-set.ts';
import {
  isIntroductionAlone,
  saysSomething,
  withoutCourtesies,
  withoutData,
} from '../language/shown/trimming.ts';
import { wordKey } from '../language/spaced-phrases.ts';
import { LEXICON } from '../language/lexicon.ts';
import { isUnspaced } from '../language/words.ts';

const OPENINGS = PhraseSet.of('openings');
const QUESTION_WORDS = PhraseSet.of('questionWords');
const ADDITIONS = PhraseSet.of('additions');
const REPLIES = PhraseSet.of('replies');
const SIGN_OFFS = new PhraseSet(LEXICON.signOffs.spaced, LEXICON.signOffs.unspaced);
/** A turn begins with them that asks. */
const WISHES: ReadonlySet<string> = new Set(LEXICON.please.spaced.map(wordKey));
/** A sentence with so many content words says what it is about. */
const ENOUGH = 2;
const DIGITS_OF_DATA = 7;
/** People say first what they want most. */
const FIRST = 3;
const QUESTION = 4;
/** Words that announce a request without saying it, and their English plurals. */
const VAGUE: ReadonlySet<string> = new Set(
  LEXICON.announcements.all.flatMap((word) => [wordKey(word), `${wordKey(word)}s`]),
);

/** Of a longer turn only the beginning is read, UTF-16 units, and only so many sentences of it. */
const READ_LENGTH = 4000;
const MOST_SENTENCES = 40;
/** A sentence that was weighed by its clauses is shown by them. */
const LONG_SENTENCE = 200;

export interface AskedSentence {
  readonly text: string;
  /** 0 to 13: how well it says by itself what is wanted. */
  readonly telling: number;
  /** Words that name something. */
  readonly content: number;
  /** A question or wish, that something is wrong, or neither. */
  readonly asks: 'question' | 'complaint' | 'nothing';
}

interface Told {
  readonly text: string;
  readonly asks: boolean;
}

/** The sentences of a turn that ask; of a turn that only states something, the first that says enough. */
export function askedSentences(content: string, { sentences, request }: Enrichment): AskedSentence[] {
  const told: readonly Told[] = sentences.length > 0 ? sentences : [{ text: request, asks: true }];
  const own = ownSentences(content);
  const holding = own.flatMap((sentence) =>
    told.flatMap(({ text, asks }) => {
      const holds = text !== '' && sentence.includes(text);
      return holds ? [{ text: around(sentence, text), asks }] : [];
    }),
  );
  const all = own.map((text) => ({ text, asks: false }));
  for (const found of [holding.filter(({ text }) => !givesData(text)), holding, all]) {
    const shown = shownSentences(found);
    if (shown.length > 0) return chosen(shown);
  }
  return [];
}

/** The sentences of a turn up to the end of a letter. */
function ownSentences(content: string): string[] {
  const sentences = sentencesOf(truncate(content, READ_LENGTH)).slice(0, MOST_SENTENCES);
  const end = sentences.findIndex((sentence) => closesLetter(sentence));
  return sentences.slice(0, end < 0 ? undefined : end).filter((sentence) => !isIntroductionAlone(sentence));
}

/** As they are shown, each once. */
function shownSentences(found: readonly Told[]): AskedSentence[] {
  const shown = new Map<string, AskedSentence>();
  for (const { text, asks } of found) {
    const asked = shownSentence(text, asks);
    if (asked !== null && !shown.has(asked.text)) shown.set(asked.text, asked);
  }
  return [...shown.values()];
}

/** What complains after a question or wish explains it. */
function chosen(shown: readonly AskedSentence[]): AskedSentence[] {
  const wish = shown.findIndex(({ asks, content }) => asks === 'question' && content >= ENOUGH);
  const asking = shown.filter(
    ({ asks }, place) => asks === 'question' || (asks === 'complaint' && (wish < 0 || place < wish)),
  );
  const first = asking[0] ?? shown.find(({ content }) => content >= ENOUGH) ?? shown[0]!;
  return (asking.length > 0 ? asking : [first]).map((asked) =>
    asked === first ? { ...asked, telling: asked.telling + FIRST } : asked,
  );
}

/** How the user can be reached, and under which number: what a request needs, not what it is. */
function givesData(sentence: string): boolean {
  if (/[?？؟]/u.test(sentence)) return false;
  return (
    sentence.includes('@') ||
    sentence.includes(HIDDEN) ||
    sentence.replace(/\P{N}+/gu, '').length >= DIGITS_OF_DATA
  );
}

/** "Kind regards, …": names and addresses follow. */
function closesLetter(sentence: string): boolean {
  return SIGN_OFFS.endAt(shownWordsOf(sentence, 6), 0) > 0;
}

/** The sentence that holds a part of it; of a long one the clause. */
function around(sentence: string, part: string): string {
  if (sentence.length <= LONG_SENTENCE) return sentence;
  return clausesOf(sentence).find((clause) => clause.includes(part)) ?? part;
}

function shownSentence(sentence: string, asks: boolean): AskedSentence | null {
  const line = sentence.replace(/\s+/gu, ' ');
  const text = withoutData(withoutCourtesies(line));
  if (!saysSomething(text)) return null;
  const content = contentCount(text, VAGUE);
  const isQuestion = /[?？؟]["'”»)\]]*$/u.test(text) || wishes(text) || wishes(line);
  const kind = isQuestion ? 'question' : asks ? 'complaint' : 'nothing';
  return { text, content, asks: kind, telling: Math.min(content, ENOUGH) * 3 + (isQuestion ? QUESTION : 0) };
}

/** Whether a sentence begins with "please", "I would like to", "how" and the like, or says that it brings up more. */
function wishes(text: string): boolean {
  const words = shownWordsOf(text, 8);
  if (WISHES.has(words[0]?.key ?? '') || ADDITIONS.endAt(words, 0) > 0 || ADDITIONS.endAt(words, 1) > 1)
    return true;
  if (OPENINGS.endAt(words, 0) > 0 || QUESTION_WORDS.endAt(words, 0) > 0) return true;
  return OPENINGS.unspacedAt(text, 0) > 0 || ADDITIONS.unspacedAt(text, 0) > 0;
}

/** Whether a turn begins with yes or no, as answers do. */
export function beginsWithReply(content: string): boolean {
  const start = content.slice(0, 80).trimStart();
  return REPLIES.endAt(shownWordsOf(start, 6), 0) > 0 || REPLIES.unspacedAt(start, 0) > 0;
}

/** What a user said that asks for nothing, when it says anything. */
export function statedSentence(content: string): AskedSentence | null {
  for (const sentence of sentencesOf(truncate(content, READ_LENGTH)).slice(0, MOST_SENTENCES)) {
    if (closesLetter(sentence) || isIntroductionAlone(sentence)) continue;
    const stated = shownSentence(sentence, false);
    if (stated !== null && stated.content >= (isUnspaced(stated.text) ? 2 : 3))
      return { ...stated, telling: 0 };
  }
  return null;
}
