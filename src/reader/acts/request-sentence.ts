/**
 * Finds the part of a user turn that carries the request. Spoken and long turns open with greetings, names and small
 * talk, give numbers and addresses and end in politeness: one or two of their sentences say what the turn is about.
 *
 * Test: test/reader/acts/request-sentence.test.ts.
 */
import type { RequestSentence } from '../../domain/facts.ts';
import { chosenSentences, joinedSentences } from '../document/chosen-sentences.ts';
import { sentenceKey } from '../document/sentence-key.ts';
import { clausesOf, sentencesOf } from '../document/sentences.ts';
import { wordCount } from '../document/words.ts';
import { userActOf, UserSentence, type UserAct } from './tables/user-sentence.ts';
import { ofKind, type ReadSentence } from './read-sentence.ts';
import { contentOf } from './turn-kind.ts';

/** Sentences with more words than this are weighed clause by clause. */
const LONG_SENTENCE = 28;
/** Content words beyond this number do not raise the score. */
const ENOUGH_CONTENT = 8;
/** Score of a sentence that stands for its turn only if no other sentence says anything. */
const LEAST_SCORE = 0.1;
/** Most sentences that are weighed: the first ones. */
const MAX_SENTENCES = 60;
/** Most sentences that are returned: the ones with the highest scores. */
const MOST_KEPT = 8;

/** Scores how much a sentence looks like the request of its turn; 0 if its act cannot belong to one. */
function scoreOf(sentence: UserSentence, act: UserAct): number {
  if (act === 'about-assistant' || act === 'nothing' || act === 'complaint') return 0;
  if (act === 'give') return LEAST_SCORE;
  return (
    0.25 * Math.min(sentence.content, ENOUGH_CONTENT) +
    (act === 'request' ? 1 : 0) +
    (sentence.complains ? 0.5 : 0) +
    (sentence.isQuestion ? 0.4 : 0)
  );
}

/** The request in a user turn, and the sentences from which it is chosen. */
export interface ReadRequest {
  /** '' if the turn has none. */
  readonly request: string;
  /** The topic of a turn that only asks the assistant about itself; else null. */
  readonly aboutAssistant: string | null;
  /** At most 8, in the order of the turn. */
  readonly sentences: readonly CandidateSentence[];
}

type CandidateSentence = Omit<RequestSentence, 'vector'>;

interface WeighedSentence extends CandidateSentence {
  readonly read: ReadSentence;
}

/**
 * Reads the request in a user turn, without what leads up to it; '' for thanks, greetings, confirmations, complaints
 * about the answer, bare numbers and names, small talk. A short turn keeps all sentences that say something; a longer
 * one the most request-like, in their order. Sentences that only give data (names, numbers, addresses) or ask for help
 * in general stand for the turn only if there are no others.
 */
export function readRequest(text: string, isComplaint = true): ReadRequest {
  const weighed: WeighedSentence[] = [];
  let aboutAssistant: string | null = null;
  for (const sentence of sentencesOf(text).slice(0, MAX_SENTENCES)) {
    const parts = wordCount(sentence) <= LONG_SENTENCE ? [sentence] : clausesOf(sentence);
    for (const part of parts) {
      const sentence = new UserSentence(part, isComplaint);
      const act = userActOf(sentence);
      aboutAssistant ??= sentence.aboutAssistant;
      const score = scoreOf(sentence, act);
      if (score === 0) continue;
      const asks = act === 'request' || act === 'question' || act === 'problem';
      weighed.push({
        text: part.trim(),
        score,
        words: wordCount(sentence.folded),
        asks,
        key: 0,
        read: sentence.read,
      });
    }
  }
  if (weighed.length === 0) return { request: '', aboutAssistant, sentences: [] };
  const real = weighed.filter(({ score }) => score > LEAST_SCORE);
  const sentences = (real.length > 0 ? real : weighed).map(({ read, ...sentence }) => ({
    ...sentence,
    text: withoutLead(sentence.text, read),
  }));
  const request = joinedSentences(chosenSentences(sentences));
  return { request, aboutAssistant: null, sentences: keepHighest(sentences) };
}

function keepHighest(sentences: readonly CandidateSentence[]): CandidateSentence[] {
  const most =
    sentences.length <= MOST_KEPT
      ? sentences
      : sentences.toSorted((a, b) => b.score - a.score).slice(0, MOST_KEPT);
  return sentences
    .filter((sentence) => most.includes(sentence))
    .map((sentence) => ({ ...sentence, key: sentenceKey(sentence.text) }));
}

/** Returns only the request of `readRequest`. */
export function requestOf(text: string): string {
  return readRequest(text).request;
}

/** The sentence after its leads; the whole sentence if nothing follows them. */
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
