/**
 * The act of a user's sentence: it asks for something, tells something, only gives what a request needs, or says
 * nothing that a request could be about.
 *
 * Test: test/reader/acts/tables/act-tables.test.ts.
 */
import { LEXICON, type Entries } from '../../document/lexicon.ts';
import { fold } from '../../document/normalise.ts';
import { alternatives } from '../../document/patterns.ts';
import { holdsQuestionMark } from '../../document/question-marks.ts';
import { foldedWordsOf, isFoldedStopWord } from '../../document/words.ts';
import { isBareData } from '../bare-data.ts';
import { readSentence, says, saysBefore, substanceOf, type ReadSentence } from '../read-sentence.ts';
import { isOnlyComplaint } from '../signals.ts';
import {
  aboutAssistantTopic,
  contentOf,
  isId,
  isIntroduction,
  isReaction,
  isSentFrom,
  isSignOff,
} from '../turn-kind.ts';
import { firstRule, type ActRule } from './act-table.ts';

/** A user's sentence for the rules below. Each property is computed once. */
export class UserSentence {
  readonly read: ReadSentence;
  /** True if the turn may complain about the conversation. */
  readonly mayComplain: boolean;
  /** Number of content words. */
  readonly content: number;
  /** The topic name of a sentence that only asks the assistant about itself; else null. */
  readonly aboutAssistant: string | null;
  #words: readonly string[] | undefined;
  #gives: boolean | undefined;

  constructor(text: string, mayComplain: boolean) {
    this.read = readSentence(text);
    this.mayComplain = mayComplain;
    this.content = contentOf(this.read);
    this.aboutAssistant = aboutAssistantTopic(this.read);
  }

  get folded(): string {
    return this.read.folded;
  }

  get words(): readonly string[] {
    return (this.#words ??= foldedWordsOf(this.folded));
  }

  /** True if it wishes, asks or commands. */
  get wishes(): boolean {
    return says(this.read, 'asking') || saysBefore(this.read, 'asks-for');
  }

  get isQuestion(): boolean {
    return holdsQuestionMark(this.read.text);
  }

  /** True if it says that something is wrong: a request without a question. */
  get complains(): boolean {
    return says(this.read, 'problem') || saysBefore(this.read, 'denies');
  }

  /** True if it asks for help without saying more, or gives contact data or a reference number. */
  get gives(): boolean {
    return (this.#gives ??= isGeneric(this.read) || (!this.wishes && !this.complains && isData(this.read)));
  }
}

/**
 * `about-assistant`: asks the assistant about itself. `nothing`: manners, small talk, names, signatures, reactions.
 * `complaint`: about the conversation alone. `give`: asks for help in general, or gives what a request needs.
 */
export type UserAct =
  | 'about-assistant'
  | 'nothing'
  | 'complaint'
  | 'request'
  | 'question'
  | 'problem'
  | 'give'
  | 'inform';

/** Exported for its test; use `userActOf`. */
export const USER_ACTS: readonly ActRule<UserSentence, UserAct>[] = [
  {
    act: 'about-assistant',
    when: ({ aboutAssistant }) => aboutAssistant !== null,
    example: 'Are you a robot?',
  },
  { act: 'nothing', when: ({ content }) => content === 0, example: 'Hello, how are you?' },
  {
    act: 'complaint',
    when: ({ mayComplain, read }) => mayComplain && isOnlyComplaint(read.text),
    example: 'That is a useless answer.',
  },
  { act: 'nothing', when: ({ folded }) => isSentFrom(folded), example: 'Sent from my iPhone' },
  {
    act: 'request',
    when: (sentence) => !sentence.gives && sentence.wishes,
    example: 'I would like to book a cabin.',
  },
  {
    act: 'question',
    when: (sentence) => !sentence.gives && sentence.isQuestion,
    example: 'The cabin by the lake?',
  },
  {
    act: 'nothing',
    when: ({ folded, words }) => isReaction(folded, words),
    example: 'I tried everything.',
  },
  {
    act: 'problem',
    when: (sentence) => !sentence.gives && sentence.complains,
    example: 'The stove is broken.',
  },
  { act: 'nothing', when: ({ folded }) => isId(folded), example: 'ORD-5512-X' },
  { act: 'nothing', when: ({ folded, words }) => isSignOff(folded, words), example: 'Kind regards, Mara' },
  { act: 'nothing', when: ({ read }) => isIntroduction(read), example: "I'm Priya Anand." },
  { act: 'nothing', when: ({ read }) => isBareData(read), example: 'Harbour Road 12, 12345 Ruhstadt' },
  { act: 'give', when: ({ gives }) => gives, example: 'I have a quick question.' },
  { act: 'inform', example: 'The cabin stands by the lake.' },
];

/** The act of a user's sentence. */
export function userActOf(sentence: UserSentence): UserAct {
  return firstRule(USER_ACTS, sentence).act;
}

/** True if it asks for help and says no more. */
function isGeneric(sentence: ReadSentence): boolean {
  if (!says(sentence, 'general-help')) return false;
  return foldedWordsOf(substanceOf(sentence, { answers: true, also: ['general-help'] })).every(
    isFoldedStopWord,
  );
}

const folded = ({ all }: Entries): string => alternatives(all.map(fold));
/** A digit as a word, or a single letter: names and numbers are spelled so. */
const SPELLED = `(?:${folded(LEXICON.digits)}|[a-z])`;
/**
 * A number of five digits or more as accounts, policies and telephones have it (no time, no amount), or a spelled one.
 */
const IDENTIFIER =
  '(?:[+(#]?(?:[a-z]{0,3}\\d[\\s().-]{0,2}){4,40}\\d(?![:,]?\\d)' +
  `|(?:${SPELLED}[\\s,.-]+){3,40}${SPELLED}(?![\\p{L}]))`;
const ADDRESS = '[^\\s@]@[^\\s@]{1,64}\\.\\p{L}{2}';
const IS = `${folded(LEXICON.valueMarkers)}|[:=#]`;
/** Contact data or a reference number: what the request needs, not what it is. */
const DATA = new RegExp(`(?<!\\p{L})(?:${IS})[\\s:#]{0,8}${IDENTIFIER}|${ADDRESS}`, 'u');

/** True if the sentence only gives data. */
function isData(sentence: ReadSentence): boolean {
  return says(sentence, 'data') || DATA.test(sentence.folded);
}
