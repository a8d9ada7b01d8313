/**
 * Finds the part of a user turn that carries the request. Spoken and long turns open with greetings,
 * names and small talk, give numbers and addresses and end in politeness: what the turn is about stands in one or two
 * of its sentences.
 */
import type { RequestSentence } from '../../domain/facts.ts';
import { chosenSentences, joinedSentences } from '../document/chosen-sentences.ts';
import { sentenceKey } from '../document/sentence-key.ts';
import { clausesOf, sentencesOf } from '../document/sentences.ts';
import { wordCount } from '../document/words.ts';
import { userActOf, UserSentence, type UserAct } from './tables/user-sentence.ts';
import { ofKind, type ReadSentence } from './read-sentence.ts';
import { contentOf } from './turn-kind.ts';

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

/** How much a sentence looks like the request of its turn; 0: what it does has no part in one. */
function scoreOf(said: UserSentence, act: UserAct): number {
  if (act === 'about-assistant' || act === 'nothing' || act === 'complaint') return 0;
  if (act === 'give') return LEAST_SCORE;
  return (
    0.25 * Math.min(said.content, ENOUGH_CONTENT) +
    (act === 'request' ? 1 : 0) +
    (said.complains ? 0.5 : 0) +
    (said.isQuestion ? 0.4 : 0)
  );
}

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
      const said = new UserSentence(part, isComplaint);
      const act = userActOf(said);
      aboutAssistant ??= said.aboutAssistant;
      const score = scoreOf(said, act);
      if (score === 0) continue;
      const asks = act === 'request' || act === 'question' || act === 'problem';
      weighed.push({
        text: part.trim(),
        score,
        words: wordCount(said.folded),
        asks,
        key: 0,
        read: said.read,
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
  return { request, aboutAssistant: null, sentences: told(sentences) };
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
