/**
 * What a sentence of an assistant does: its act toward the task, and its act toward manners. A sentence has one of
 * each: "Is there anything else?" asks, and takes leave. Covered by test/reader/acts/tables/act-tables.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import { QUESTION_MARK } from '../../document/question-marks.ts';
import { SHOWN, shownWordsOf, type PhraseSet, type ShownWord } from '../../shortening/phrase-set.ts';
import { wordKey } from '../../document/spaced-phrases.ts';
import { isUnspaced } from '../../document/words.ts';
import { firstRule, type ActRule } from './act-table.ts';

const AUXILIARIES: ReadonlySet<string> = new Set(LEXICON.auxiliaries.all.map(wordKey));
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all.map(wordKey));
const MARKED = new RegExp(`${QUESTION_MARK}["'”»)\\].]*$`, 'u');

/** So many words before a handover or a report may deny it: "I am not able to transfer you". */
const DENIAL = 6;
/** "All right, now let me check": it begins within so many words. */
const FIRST_WORDS = 4;
/** A sentence goes on to say something when so many words follow what says nothing; fewer after a comma. */
const WORDS_AFTER = { sentence: 7, comma: 4 } as const;
const LONG_UNSPACED = 24;
const LEAST_FRONT = 7;

/** A sentence as its acts are told: places of phrases are looked up once. */
export class SaidWords {
  readonly text: string;
  readonly words: readonly ShownWord[];
  #isQuestion: boolean | undefined;
  #handover: number | undefined;

  constructor(text: string, words: readonly ShownWord[]) {
    this.text = text;
    this.words = words;
  }

  /** It ends in a question mark, or is built as a question. */
  get isQuestion(): boolean {
    return (this.#isQuestion ??= MARKED.test(this.text) || isUnmarkedQuestion(this.words));
  }

  /** The word at which it hands over; -1: none, or only under a condition ("if that goes on, I can transfer you"). */
  get handover(): number {
    return (this.#handover ??=
      SHOWN.subordinates.endAt(this.words, 0) > 0 ? -1 : SHOWN.handovers.firstIn(this.text, this.words));
  }

  has(set: PhraseSet): boolean {
    return this.firstOf(set) >= 0;
  }

  firstOf(set: PhraseSet): number {
    return set.firstIn(this.text, this.words);
  }

  /** Whether a word of a set stands shortly before a place, in its clause. */
  isPreceded(place: number, ...sets: readonly PhraseSet[]): boolean {
    const before = this.words.slice(Math.max(0, place - DENIAL), place);
    const word = before.findLast(({ key }) => sets.some((set) => set.hasWord(key)));
    return word !== undefined && !/[,;:–—]/u.test(this.text.slice(word.end, this.words[place]!.start));
  }
}

/** "When are you leaving." */
export function isUnmarkedQuestion(words: readonly ShownWord[]): boolean {
  const [first, second] = words;
  if (first === undefined || second === undefined || SHOWN.questionWords.endAt(words, 0) === 0) return false;
  return AUXILIARIES.has(first.key) ? SUBJECTS.has(second.key) : AUXILIARIES.has(second.key);
}

/** Holds a name within or a number, as scripts with capitals show; others show nothing of it. */
export function namesOne(text: string): boolean {
  return isUnspaced(text) || /\P{Lu}\p{Lu}\p{Ll}|\p{N}/u.test(text) || !/\p{Lu}|\p{Ll}/u.test(text);
}

/** What a sentence does toward the task. */
export type TaskAct = 'answer' | 'ask' | 'suggest' | 'offer' | 'hand-over' | 'refuse' | 'done';

/** Exported for its test: `taskActOf` reads it. */
export const TASK_ACTS: readonly ActRule<SaidWords, TaskAct>[] = [
  {
    act: 'suggest',
    when: (said) => said.isQuestion && said.has(SHOWN.proposals) && namesOne(said.text),
    example: 'How about Monday the 4th?',
  },
  { act: 'ask', when: (said) => said.isQuestion, example: 'When are you leaving.' },
  {
    act: 'offer',
    when: (said) => handsOver(said) && said.isPreceded(said.handover, SHOWN.offers),
    example: 'I can transfer you to our team.',
  },
  { act: 'hand-over', when: handsOver, example: 'I am transferring you to our team.' },
  { act: 'refuse', when: (said) => said.has(SHOWN.refusals), example: 'Unfortunately that is not possible.' },
  { act: 'done', when: isReport, example: 'Your table is booked.' },
  { act: 'answer', example: 'You get a mail once the table is booked.' },
];

export function taskActOf(said: SaidWords): TaskAct {
  return firstRule(TASK_ACTS, said).act;
}

function handsOver(said: SaidWords): boolean {
  return said.handover >= 0 && !said.isPreceded(said.handover, SHOWN.negations);
}

/** Not "once it is done" or "it could not be done". */
function isReport(said: SaidWords): boolean {
  const { completions, negations, subordinates, offers } = SHOWN;
  const report = said.firstOf(completions);
  if (report < 0 || (isUnspaced(said.text) && said.has(negations))) return false;
  return !said.isPreceded(report, negations, subordinates, offers);
}

/** What a sentence does for the sake of manners: nothing, its opening, all of it; or it asks to wait. */
export type MannersAct = 'none' | 'opening' | 'all' | 'wait';

/** A sentence with the words of its first pleasantry, which is looked up only where it is asked for. */
class MannersRead {
  readonly said: SaidWords;
  #place: number | undefined;
  #last: number | undefined;

  constructor(said: SaidWords) {
    this.said = said;
  }

  /** The word with which a pleasantry begins; -1: none does. */
  get place(): number {
    return (this.#place ??= this.said.firstOf(SHOWN.pleasantries));
  }

  /** The last word of it; below `place` where no words are parted by spaces. */
  get last(): number {
    return (this.#last ??= SHOWN.pleasantries.endAt(this.said.words, this.place) - 1);
  }

  /** Another pleasantry begins within three words behind it. */
  get isFollowed(): boolean {
    const { words } = this.said;
    return [1, 2, 3].some((more) => {
      const at = this.last + more;
      return at < words.length && SHOWN.pleasantries.endAt(words, at) > at;
    });
  }

  /** So many words follow that the sentence says something besides. */
  get goesOn(): boolean {
    const { text, words } = this.said;
    const isParted = /^\s?[,;–—-]/u.test(text.slice(words[this.last]!.end));
    return words.length - 1 - this.last >= (isParted ? WORDS_AFTER.comma : WORDS_AFTER.sentence);
  }
}

/** Exported for its test: `mannersActOf` reads it. */
export const MANNERS_ACTS: readonly ActRule<MannersRead, MannersAct>[] = [
  {
    act: 'all',
    when: ({ said: { words } }) => {
      const greeting = SHOWN.greetings.endAt(words, 0);
      return greeting > 0 && greeting === words.length;
    },
    example: 'Hello!',
  },
  {
    act: 'wait',
    when: ({ said: { text, words } }) =>
      (!isUnspaced(text) || text.length <= LONG_UNSPACED) &&
      SHOWN.promises.firstIn(text, words.slice(0, FIRST_WORDS)) >= 0,
    example: 'Let me check that for you.',
  },
  {
    act: 'all',
    when: ({ said, place }) => place >= 0 && SHOWN.subordinates.endAt(said.words, 0) > 0,
    example: 'If you find the code later today, feel free to ask us again about it.',
  },
  {
    act: 'none',
    when: ({ said, place }) => place < 0 || (place > 2 && said.words.length > 9),
    example: 'The pool opens at nine.',
  },
  {
    act: 'opening',
    when: ({ said: { text }, place, last }) => last < place && isUnspaced(text) && goesOnUnspaced(text),
    example: '好的，推荐您去北海公园。',
  },
  { act: 'all', when: ({ place, last }) => last < place, example: '不客气，再见。' },
  {
    act: 'all',
    when: (read) => read.said.words.length <= 12 && read.isFollowed,
    example: 'You are welcome, glad to help!',
  },
  {
    act: 'opening',
    when: ({ goesOn }) => goesOn,
    example: 'You are welcome, the pool opens at nine on weekdays.',
  },
  { act: 'all', example: 'Happy to help!' },
];

export function mannersActOf(said: SaidWords): MannersAct {
  return firstRule(MANNERS_ACTS, new MannersRead(said)).act;
}

/** "好的，…": a courtesy and a comma before a statement. */
function goesOnUnspaced(text: string): boolean {
  const rest = text.slice(SHOWN.pleasantries.unspacedAt(text, 0));
  if (!/^.?[，,、]/u.test(rest)) return text.length > LONG_UNSPACED;
  return rest.length >= LEAST_FRONT && SHOWN.pleasantries.firstIn(rest, shownWordsOf(rest)) < 0;
}

/** The read that each table is asked with, for its test. */
export function mannersReadOf(text: string): MannersRead {
  return new MannersRead(saidWordsOf(text));
}

export function saidWordsOf(text: string): SaidWords {
  return new SaidWords(text, shownWordsOf(text));
}
