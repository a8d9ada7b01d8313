/**
 * The two acts of an assistant's sentence: toward the task and toward manners. "Is there anything else?" asks, and
 * takes leave.
 *
 * Test: test/reader/acts/tables/act-tables.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import { QUESTION_MARK } from '../../document/question-marks.ts';
import { TEXT_PHRASES, phraseWordsOf, type PhraseSet, type PhraseWord } from '../../shortening/phrase-set.ts';
import { wordKey } from '../../document/spaced-phrases.ts';
import { isUnspaced } from '../../document/words.ts';
import { firstRule, type ActRule } from './act-table.ts';

const AUXILIARIES: ReadonlySet<string> = new Set(LEXICON.auxiliaries.all.map(wordKey));
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all.map(wordKey));
const MARKED = new RegExp(`${QUESTION_MARK}["'”»)\\].]*$`, 'u');

/** Most words between a negation and the handover or report that it denies: "I am not able to transfer you". */
const DENIAL = 6;
/** A promise begins within this many words: "All right, now let me check". */
const FIRST_WORDS = 4;
/** A sentence says something besides its pleasantry if this many words follow; fewer after a comma. */
const WORDS_AFTER = { sentence: 7, comma: 4 } as const;
const LONG_UNSPACED = 24;
/** Least UTF-16 units of a statement in a script without spaces. */
export const LEAST_UNSPACED = 7;

/** A sentence for the rules below. Each phrase is looked up once. */
export class AssistantSentence {
  readonly text: string;
  readonly words: readonly PhraseWord[];
  #isQuestion: boolean | undefined;
  #handover: number | undefined;

  constructor(text: string, words: readonly PhraseWord[]) {
    this.text = text;
    this.words = words;
  }

  /** True if it ends in a question mark, or has the word order of a question. */
  get isQuestion(): boolean {
    return (this.#isQuestion ??= MARKED.test(this.text) || isUnmarkedQuestion(this.words));
  }

  /**
   * Index of the word at which it hands over; -1 if it does not, or only under a condition ("if that goes on, I can
   * transfer you").
   */
  get handover(): number {
    return (this.#handover ??=
      TEXT_PHRASES.subordinates.endAt(this.words, 0) > 0
        ? -1
        : TEXT_PHRASES.handovers.firstIn(this.text, this.words));
  }

  has(set: PhraseSet): boolean {
    return this.firstOf(set) >= 0;
  }

  firstOf(set: PhraseSet): number {
    return set.firstIn(this.text, this.words);
  }

  /** True if a word of a set stands shortly before `place`, in the same clause. */
  isPreceded(place: number, ...sets: readonly PhraseSet[]): boolean {
    const before = this.words.slice(Math.max(0, place - DENIAL), place);
    const word = before.findLast(({ key }) => sets.some((set) => set.hasWord(key)));
    return word !== undefined && !/[,;:–—]/u.test(this.text.slice(word.end, this.words[place]!.start));
  }
}

/** True for "When are you leaving." */
export function isUnmarkedQuestion(words: readonly PhraseWord[]): boolean {
  const [first, second] = words;
  if (first === undefined || second === undefined || TEXT_PHRASES.questionWords.endAt(words, 0) === 0)
    return false;
  return AUXILIARIES.has(first.key) ? SUBJECTS.has(second.key) : AUXILIARIES.has(second.key);
}

/**
 * True if the text holds a name inside it or a number. Always true for scripts without capitals, which do not show
 * names.
 */
export function namesOne(text: string): boolean {
  return isUnspaced(text) || /\P{Lu}\p{Lu}\p{Ll}|\p{N}/u.test(text) || !/\p{Lu}|\p{Ll}/u.test(text);
}

/** Acts of a sentence toward the task. */
export type TaskAct = 'answer' | 'ask' | 'suggest' | 'offer' | 'hand-over' | 'refuse' | 'done';

/** Exported for its test; use `taskActOf`. */
export const TASK_ACTS: readonly ActRule<AssistantSentence, TaskAct>[] = [
  {
    act: 'suggest',
    when: (sentence) =>
      sentence.isQuestion && sentence.has(TEXT_PHRASES.proposals) && namesOne(sentence.text),
    example: 'How about Monday the 4th?',
  },
  { act: 'ask', when: (sentence) => sentence.isQuestion, example: 'When are you leaving.' },
  {
    act: 'offer',
    when: (sentence) => handsOver(sentence) && sentence.isPreceded(sentence.handover, TEXT_PHRASES.offers),
    example: 'I can transfer you to our team.',
  },
  { act: 'hand-over', when: handsOver, example: 'I am transferring you to our team.' },
  {
    act: 'refuse',
    when: (sentence) => sentence.has(TEXT_PHRASES.refusals),
    example: 'Unfortunately that is not possible.',
  },
  { act: 'done', when: isReport, example: 'Your table is booked.' },
  { act: 'answer', example: 'You get a mail once the table is booked.' },
];

/** The act of a sentence toward the task. */
export function taskActOf(sentence: AssistantSentence): TaskAct {
  return firstRule(TASK_ACTS, sentence).act;
}

function handsOver(sentence: AssistantSentence): boolean {
  return sentence.handover >= 0 && !sentence.isPreceded(sentence.handover, TEXT_PHRASES.negations);
}

/** False for "once it is done" and "it could not be done". */
function isReport(sentence: AssistantSentence): boolean {
  const { completions, negations, subordinates, offers } = TEXT_PHRASES;
  const report = sentence.firstOf(completions);
  if (report < 0 || (isUnspaced(sentence.text) && sentence.has(negations))) return false;
  return !sentence.isPreceded(report, negations, subordinates, offers);
}

/** The manners in a sentence: none, its opening, or all of it; or a request to wait. */
export type MannersAct = 'none' | 'opening' | 'all' | 'wait';

/** A sentence with its first pleasantry, which is looked up on first use. */
class MannersRead {
  readonly sentence: AssistantSentence;
  #place: number | undefined;
  #last: number | undefined;

  constructor(sentence: AssistantSentence) {
    this.sentence = sentence;
  }

  /** Index of the word at which a pleasantry begins; -1 if there is none. */
  get place(): number {
    return (this.#place ??= this.sentence.firstOf(TEXT_PHRASES.pleasantries));
  }

  /** Index of its last word; below `place` in scripts without spaces. */
  get last(): number {
    return (this.#last ??= TEXT_PHRASES.pleasantries.endAt(this.sentence.words, this.place) - 1);
  }

  /** True if another pleasantry begins within three words after it. */
  get isFollowed(): boolean {
    const { words } = this.sentence;
    return [1, 2, 3].some((more) => {
      const at = this.last + more;
      return at < words.length && TEXT_PHRASES.pleasantries.endAt(words, at) > at;
    });
  }

  /** True if enough words follow to say something besides. */
  get goesOn(): boolean {
    const { text, words } = this.sentence;
    const isParted = /^\s?[,;–—-]/u.test(text.slice(words[this.last]!.end));
    return words.length - 1 - this.last >= (isParted ? WORDS_AFTER.comma : WORDS_AFTER.sentence);
  }
}

/** Exported for its test; use `mannersActOf`. */
export const MANNERS_ACTS: readonly ActRule<MannersRead, MannersAct>[] = [
  {
    act: 'all',
    when: ({ sentence: { words } }) => holdsAsidesAlone(words),
    example: 'Oh no, I am sorry.',
  },
  {
    act: 'wait',
    when: ({ sentence: { text, words } }) =>
      (!isUnspaced(text) || text.length <= LONG_UNSPACED) &&
      TEXT_PHRASES.promises.firstIn(text, words.slice(0, FIRST_WORDS)) >= 0,
    example: 'Let me check that for you.',
  },
  {
    act: 'all',
    when: ({ sentence, place }) => place >= 0 && TEXT_PHRASES.subordinates.endAt(sentence.words, 0) > 0,
    example: 'If you find the code later today, feel free to ask us again about it.',
  },
  {
    act: 'none',
    when: ({ sentence, place }) => place < 0 || (place > 2 && sentence.words.length > 9),
    example: 'The pool opens at nine.',
  },
  {
    act: 'opening',
    when: ({ sentence: { text }, place, last }) => last < place && isUnspaced(text) && goesOnUnspaced(text),
    example: '好的，推荐您去北海公园。',
  },
  { act: 'all', when: ({ place, last }) => last < place, example: '不客气，再见。' },
  {
    act: 'all',
    when: (read) => read.sentence.words.length <= 12 && read.isFollowed,
    example: 'You are welcome, glad to help!',
  },
  {
    act: 'opening',
    when: ({ goesOn }) => goesOn,
    example: 'You are welcome, the pool opens at nine on weekdays.',
  },
  { act: 'all', example: 'Happy to help!' },
];

/** The act of a sentence toward manners. */
export function mannersActOf(sentence: AssistantSentence): MannersAct {
  return firstRule(MANNERS_ACTS, new MannersRead(sentence)).act;
}

/** True if greetings, asides and leads are all of a sentence: "Hello!", "Oh, I see." */
function holdsAsidesAlone(words: readonly PhraseWord[]): boolean {
  const { greetings, asides, leads } = TEXT_PHRASES;
  let at = 0;
  while (at < words.length) {
    const end = Math.max(greetings.endAt(words, at), asides.endAt(words, at), leads.endAt(words, at));
    if (end <= at) return false;
    at = end;
  }
  return at > 0;
}

/** True for "好的，…": a courtesy and a comma before a statement. */
function goesOnUnspaced(text: string): boolean {
  const rest = text.slice(TEXT_PHRASES.pleasantries.unspacedAt(text, 0));
  if (!/^.?[，,、]/u.test(rest)) return text.length > LONG_UNSPACED;
  return rest.length >= LEAST_UNSPACED && TEXT_PHRASES.pleasantries.firstIn(rest, phraseWordsOf(rest)) < 0;
}

/** Builds the input of the manners table from a text, for its test. */
export function mannersReadOf(text: string): MannersRead {
  return new MannersRead(assistantSentenceOf(text));
}

export function assistantSentenceOf(text: string): AssistantSentence {
  return new AssistantSentence(text, phraseWordsOf(text));
}
