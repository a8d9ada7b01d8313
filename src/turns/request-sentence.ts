/**
 * Finds the part of a user turn that carries the request. Spoken and long turns open with greetings,
 * names and small talk, give numbers and addresses and end in politeness: what the turn is about stands in one or two
 * of its sentences.
 */
import type { RequestSentence } from '../domain/facts.ts';
import { chosenSentences, joinedSentences } from '../text/chosen-sentences.ts';
import { LEXICON, type Entries } from '../text/lexicon.ts';
import { fold } from '../text/normalise.ts';
import { alternatives } from '../text/patterns.ts';
import { holdsQuestionMark } from '../text/question-marks.ts';
import { sentenceKey } from '../text/sentence-key.ts';
import { clausesOf, sentencesOf } from '../text/sentences.ts';
import { foldedWordsOf, isFoldedStopWord, wordCount } from '../text/words.ts';
import { isBareData } from './bare-data.ts';
import { ofKind, readSentence, says, saysBefore, substanceOf, type ReadSentence } from './read-sentence.ts';
import { isOnlyComplaint } from './signals.ts';
import {
  aboutAssistantTopic,
  contentOf,
  isId,
  isIntroduction,
  isReaction,
  isSentFrom,
  isSignOff,
} from './turn-kind.ts';

/** Sentences with more words than this are also looked at clause by clause. */
const LONG_SENTENCE = 28;
/** Content beyond this many words does not make a sentence more of a request. */
const ENOUGH_CONTENT = 8;
/** Of a sentence that stands for its turn only when no other says anything. */
const LEAST_SCORE = 0.1;
/** At most so many sentences are weighed: the first ones. */
const MAX_SENTENCES = 60;
/** So many are told, the most request-like ones. */
const MOST_TOLD = 8;

const folded = ({ all }: Entries): string => alternatives(all.map(fold));
/** Digits said one by one, and letters as names are spelled. */
const SPELLED = `(?:${folded(LEXICON.digits)}|[a-z])`;
/** A number of five digits or more as accounts, policies and telephones have it (no time, no amount); a spelled one. */
const IDENTIFIER =
  '(?:[+(#]?(?:[a-z]{0,3}\\d[\\s().-]{0,2}){4,40}\\d(?![:,]?\\d)' +
  `|(?:${SPELLED}[\\s,.-]+){3,40}${SPELLED}(?![\\p{L}]))`;
const ADDRESS = '[^\\s@]@[^\\s@]{1,64}\\.\\p{L}{2}';
const IS = `${folded(LEXICON.valueMarkers)}|[:=#]`;
/** States how one can be reached, or under which number: what the request needs, not what it is. */
const DATA = new RegExp(`(?<!\\p{L})(?:${IS})[\\s:#]{0,8}${IDENTIFIER}|${ADDRESS}`, 'u');

/** Asks for help and says no more. */
function isGeneric(sentence: ReadSentence): boolean {
  if (!says(sentence, 'general-help')) return false;
  return foldedWordsOf(substanceOf(sentence, { answers: true, also: ['general-help'] })).every(
    isFoldedStopWord,
  );
}

/** Only gives data. */
function isData(sentence: ReadSentence): boolean {
  if (asks(sentence) || complains(sentence)) return false;
  return says(sentence, 'data') || DATA.test(sentence.folded);
}

/** Wishes, asks or commands. */
function asks(sentence: ReadSentence): boolean {
  return says(sentence, 'asking') || saysBefore(sentence, 'asks-for');
}

/** Says that something is wrong: states a request without asking. */
function complains(sentence: ReadSentence): boolean {
  return says(sentence, 'problem') || saysBefore(sentence, 'denies');
}

interface Weight {
  /** How much a sentence looks like the request of its turn; 0 when it says nothing. */
  readonly score: number;
  readonly wishes: boolean;
  /** Wishes, or says that something is wrong. */
  readonly asks: boolean;
}

function weigh(sentence: ReadSentence): Weight {
  const content = contentOf(sentence);
  if (content === 0) return SAYS_NOTHING;
  if (isGeneric(sentence) || isData(sentence)) return { score: LEAST_SCORE, wishes: false, asks: false };
  let score = 0.25 * Math.min(content, ENOUGH_CONTENT);
  const wishes = asks(sentence);
  const isWrong = complains(sentence);
  const questions = holdsQuestionMark(sentence.text);
  if (wishes) score += 1;
  if (isWrong) score += 0.5;
  if (questions) score += 0.4;
  return { score, wishes: wishes || questions, asks: wishes || questions || isWrong };
}

const SAYS_NOTHING: Weight = { score: 0, wishes: false, asks: false };

/** The request in a user turn, and the sentences that it is chosen from. */
export interface ReadRequest {
  /** '' when the turn has none. */
  readonly request: string;
  /** The topic of a turn without a request that asks the assistant about itself; else null. */
  readonly aboutAssistant: string | null;
  /** At most 8, in their order. */
  readonly sentences: readonly ToldSentence[];
}

type ToldSentence = Omit<RequestSentence, 'vector'>;

interface WeighedSentence extends ToldSentence {
  readonly read: ReadSentence;
}

/**
 * The request in a user turn, without what leads up to it; none for thanks, greetings, confirmations, complaints
 * about the answer, bare numbers and names, small talk. Of a short turn all sentences that say something; of a longer
 * one the most request-like, in their order. What only gives data (names, numbers, addresses) or asks for help in
 * general stands for the turn only when nothing else does.
 */
export function readRequest(text: string, isComplaint = true): ReadRequest {
  const weighed: WeighedSentence[] = [];
  let aboutAssistant: string | null = null;
  for (const sentence of sentencesOf(text).slice(0, MAX_SENTENCES)) {
    const parts = wordCount(sentence) <= LONG_SENTENCE ? [sentence] : clausesOf(sentence);
    for (const part of parts) {
      const read = readSentence(part);
      const weight = weigh(read);
      const topic = aboutAssistantTopic(read);
      aboutAssistant ??= topic;
      if (topic !== null || weight.score === 0 || (isComplaint && isOnlyComplaint(part))) continue;
      if (foundsNothing(read, weight)) continue;
      const { score, asks } = weight;
      weighed.push({ text: part.trim(), score, words: wordCount(read.folded), asks, key: 0, read });
    }
  }
  if (weighed.length === 0) return { request: '', aboutAssistant, sentences: [] };
  const real = weighed.filter(({ score }) => score > LEAST_SCORE);
  const sentences = (real.length > 0 ? real : weighed).map(({ read, ...sentence }) => ({
    ...sentence,
    text: withoutLead(sentence.text, read),
  }));
  const request = joinedSentences(chosenSentences(sentences));
  return { request, aboutAssistant: null, sentences: told(sentences) };
}

/** A sentence with words of its own that still names nothing that could be a topic. */
function foundsNothing(sentence: ReadSentence, { wishes, asks }: Weight): boolean {
  const { folded } = sentence;
  if (isSentFrom(folded)) return true;
  if (wishes) return false;
  const words = foldedWordsOf(folded);
  return (
    isReaction(folded, words) ||
    (!asks && (isId(folded) || isSignOff(folded, words) || isIntroduction(sentence) || isBareData(sentence)))
  );
}

function told(sentences: readonly ToldSentence[]): ToldSentence[] {
  const most =
    sentences.length <= MOST_TOLD
      ? sentences
      : sentences.toSorted((a, b) => b.score - a.score).slice(0, MOST_TOLD);
  return sentences
    .filter((sentence) => most.includes(sentence))
    .map((sentence) => ({ ...sentence, key: sentenceKey(sentence.text) }));
}

/** The request of `readRequest` alone. */
export function requestOf(text: string): string {
  return readRequest(text).request;
}

/** The sentence from where its leads end; all of it when nothing is said behind them. */
function withoutLead(sentence: string, read: ReadSentence): string {
  const leads = ofKind(read.matched, 'lead');
  if (leads.length === 0) return sentence;
  const { text, tokens } = read.matched;
  let at = 0;
  for (;;) {
    const ends = leads.flatMap(({ start, end }) => (start === at ? [end] : []));
    if (ends.length === 0) break;
    at = Math.max(...ends);
  }
  if (at === 0 || at === tokens.length) return sentence;
  return contentOf(read, at) === 0 ? sentence : text.slice(tokens[at]!.start).trim();
}
