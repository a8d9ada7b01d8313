/**
 * What an assistant turn says of a request: the sentence that carries the answer, and whether it refuses or hands over.
 */
import { truncate } from '../domain/truncate.ts';
import { HIDDEN } from '../text/redact/redact.ts';
import { sentencesOf } from '../text/sentences.ts';
import { isUnspaced } from '../text/words.ts';
import { contentStems, shownWordsOf } from '../text/shown/phrase-set.ts';
import { answerOf, goesOn, LEFT_OUT, MOST_OF_LIST, type AnswerSentence } from './answer-sentence.ts';
import { isHidden, readSentence, withoutTag } from './said-sentence.ts';

/** Of a longer turn only the beginning is read, UTF-16 units, and only so many sentences of it. */
const READ_LENGTH = 2400;
const MOST_SENTENCES = 12;
/** What is done is said among so many sentences at the beginning. */
const REPORTING = 3;
/** Words of a report that speaks of nothing but the request before it. */
const CONFIRMING = 3;
const CODE = /```[^`]*(?:```|$)/gu;
const LINK = /\[([^\]\n]{1,100})\]\([^)\s]{1,300}\)/gu;
const MARKUP = /\*\*|__|`|^#{1,6}\s|^>\s/gmu;

export interface AssistantAnswer {
  readonly sentences: readonly AnswerSentence[];
  /** Says that people take over. */
  readonly handsOver: boolean;
  /** Says first that what is wanted is not possible. */
  readonly refuses: boolean;
  /** After a refusal it does what it can: "…, however, here is …". */
  readonly goesOn: boolean;
  /** Ends with the question whether there is anything else. */
  readonly offersMore: boolean;
  /** Asks for what it needs, as a question or not. */
  readonly asksBack: boolean;
  /** Asks the user to confirm what it is about to do. */
  readonly recaps: boolean;
  /** What it asks to confirm, where it says so; '' where it does not. */
  readonly recap: string;
  /** It asks whether something that it names would do. */
  readonly proposes: boolean;
  /** States something; false of questions and courtesies alone. */
  readonly states: boolean;
  /** What it states first is a "no". */
  readonly denies: boolean;
  /** Reports that something is done, and asks for nothing more that it needs. */
  readonly reports: boolean;
  /** The report is "Done." or as short. */
  readonly confirms: boolean;
}

/** A sentence scores this much when it states something. */
const STATEMENT = 0.6;
/** What is to be confirmed scores this much, and names so much. */
const LEAST_RECAP = 0.2;
const NAMES_MUCH = 3;

/** What may be the answer in an assistant turn. */
export function readAnswer(content: string): AssistantAnswer {
  const text = truncate(content, READ_LENGTH)
    .replace(CODE, `\n${LEFT_OUT}\n`)
    .replace(LINK, '$1')
    .replace(MARKUP, '');
  const said = sentencesOf(text).slice(0, MOST_SENTENCES).flatMap(withoutTag).map(readSentence);
  const sentences = said.map((_, place) => answerOf(said, place));
  const first = sentences.findIndex(({ score }, place) => score >= STATEMENT && !said[place]!.isQuestion);
  const refusal = said.findIndex(({ refuses }) => refuses);
  const handsOver = said.some((sentence) => sentence.handsOver);
  const last = said.findLast(({ words }) => words.length > 0);
  const offersMore = last !== undefined && last.isQuestion && last.pleasantry !== 'none';
  const asksBack = said.some((sentence) => sentence.isQuestion || sentence.asksBack);
  const reports =
    (!asksBack || offersMore) && sentences.slice(0, REPORTING).some(({ completes }) => completes);
  return {
    sentences,
    handsOver,
    refuses: !handsOver && refusal >= 0 && (first < 0 || refusal <= first),
    goesOn: refusal >= 0 && goesOn(said, refusal),
    offersMore,
    asksBack,
    recaps: said.some(({ asksToConfirm }) => asksToConfirm),
    recap: recapIn(sentences),
    proposes: said.some(({ proposes }) => proposes),
    states: first >= 0,
    denies: sentences[first]?.denies === true,
    reports,
    confirms:
      reports && said.some(({ words }, place) => sentences[place]!.completes && words.length <= CONFIRMING),
  };
}

/** The sentence to be confirmed that names most. */
function recapIn(sentences: readonly AnswerSentence[]): string {
  let best: AnswerSentence | null = null;
  for (const sentence of sentences)
    if (
      sentence.isRecap &&
      !sentence.isListed &&
      !sentence.text.includes(HIDDEN) &&
      sentence.score >= LEAST_RECAP &&
      (best === null || sentence.stems.size > best.stems.size)
    )
      best = sentence;
  // "Please confirm: …".
  return best !== null && best.stems.size >= NAMES_MUCH
    ? best.text.replace(/^[^:：]{1,60}(?::\s+|：)(?=\S+\s+\S+\s+\S)/u, '')
    : '';
}

/** What the words of a text are compared by. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(contentStems(shownWordsOf(text), true));
}

/** What each shared word adds, and at most how many. */
const SHARED = 0.22;
const MOST_SHARED = 4;
/** What it adds that a sentence reports something of the request done. */
const COMPLETED = 0.25;
/** A report that shares so many words with an earlier request settles that one, too. */
const SETTLED = 2;
/** A statement that says no more than so much beside the request goes on with the next, which states something. */
const NOVEL = 2;
/** What scores less is no answer, not even for want of another. */
const LEAST_SCORE = 0.15;
/** Whatever it shares with the request. */
const LEAST_ALONE = 0.1;
/** How much less it tells when something in it is hidden. */
const LESS_LEFT = 0.2;
const LITTLE_LEFT = 0.7;

/** A sentence with what it scores as the answer to a request. */
export interface ScoredAnswer {
  readonly text: string;
  readonly score: number;
  /** It names something of the request. */
  readonly shares: boolean;
  /** It reports that something is done, and names nothing of the request. */
  readonly isForeign: boolean;
  /** It reports that something is done, and names it as the request does. */
  readonly settles: boolean;
  /** It reports that what is asked is done, by its words or since the user has just confirmed it. */
  readonly isReport: boolean;
}

/** What else is known of a request. */
interface Asking {
  /** The user has just answered or confirmed, so that a report needs no word of the request. */
  readonly isConfirmed: boolean;
  /** What is asked cannot be done. */
  readonly isInformation: boolean;
  /** What the other requests name that the turn may answer. */
  readonly rivals: readonly ReadonlySet<string>[];
}
const ASKING: Asking = { isConfirmed: false, isInformation: false, rivals: [] };

/**
 * The sentence of a turn that answers best; null when the turn says nothing.
 */
export function bestAnswer(
  { sentences, reports, confirms }: AssistantAnswer,
  asked: ReadonlySet<string>,
  { isConfirmed, isInformation, rivals }: Asking = ASKING,
): ScoredAnswer | null {
  let best: ScoredAnswer | null = null;
  const isRivals = rivals.some((rival) =>
    sentences.some(({ score, stems }) => score >= STATEMENT && [...stems].some((stem) => rival.has(stem))),
  );
  for (const [place, { text, score, completes, stems, isRecap }] of sentences.entries()) {
    if (isRecap) continue;
    let shared = 0;
    for (const stem of stems) if (asked.has(stem)) shared += 1;
    const isReport = completes && !isHidden(text) && (shared > 0 || confirms || (isConfirmed && reports));
    // "I have many."
    const isThinAnswer = !isInformation && !completes && shared === 0 && stems.size === 0;
    if (isThinAnswer && !isUnspaced(text)) continue;
    if ((shared === 0 && isRivals) || score < LEAST_ALONE || (isInformation && completes && shared === 0))
      continue;
    const hidden = isHidden(text) ? LITTLE_LEFT : text.includes(HIDDEN) && !completes ? LESS_LEFT : 0;
    const total = score + Math.min(shared, MOST_SHARED) * SHARED + (isReport ? COMPLETED : 0) - hidden;
    if (text === '' || total < LEAST_SCORE || (best !== null && total <= best.score)) continue;
    const next = sentences[place + 1];
    const isThin = [...stems].filter((stem) => !asked.has(stem) && !/^\d/u.test(stem)).length <= NOVEL;
    const goesOn =
      next !== undefined &&
      !next.isRecap &&
      !next.isListed &&
      !completes &&
      rivals.length === 0 &&
      (next.proposes || (isThin && next.isPlain && !next.completes));
    const whole = goesOn && text.length + next.text.length < MOST_OF_LIST ? `${text} ${next.text}` : text;
    const settles = completes && shared >= SETTLED;
    const isForeign = completes && shared === 0;
    best = { text: whole, score: total, shares: shared > 0, isForeign, settles, isReport };
  }
  return best;
}
