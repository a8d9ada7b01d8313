/**
 * What a sentence of a user does: whether it asks for something, tells of something, only gives what a request needs,
 * or says nothing that a request could be about. Covered by test/reader/acts/tables/act-tables.test.ts.
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

/** A sentence of a user as its act is told: what is read more than once is kept. */
export class UserSentence {
  readonly read: ReadSentence;
  /** Its turn complains about the conversation. */
  readonly mayComplain: boolean;
  /** Words that say something. */
  readonly content: number;
  /** What requests to the assistant about itself are called, if it is nothing else; or null. */
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

  /** It wishes, asks or commands. */
  get wishes(): boolean {
    return says(this.read, 'asking') || saysBefore(this.read, 'asks-for');
  }

  get isQuestion(): boolean {
    return holdsQuestionMark(this.read.text);
  }

  /** It says that something is wrong: a request without asking. */
  get complains(): boolean {
    return says(this.read, 'problem') || saysBefore(this.read, 'denies');
  }

  /** It asks for help and says no more, or says how the user can be reached and under which number. */
  get gives(): boolean {
    return (this.#gives ??= isGeneric(this.read) || (!this.wishes && !this.complains && isData(this.read)));
  }
}

/**
 * `about-assistant`: it asks the assistant about itself. `nothing`: manners, small talk, names, signatures, reactions.
 * `complaint`: about the conversation alone. `give`: help in general, or what a request needs.
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

/** Exported for its test: `userActOf` reads it. */
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
  { act: 'request', when: (said) => !said.gives && said.wishes, example: 'I would like to book a cabin.' },
  { act: 'question', when: (said) => !said.gives && said.isQuestion, example: 'The cabin by the lake?' },
  {
    act: 'nothing',
    when: ({ folded, words }) => isReaction(folded, words),
    example: 'I tried everything.',
  },
  { act: 'problem', when: (said) => !said.gives && said.complains, example: 'The stove is broken.' },
  { act: 'nothing', when: ({ folded }) => isId(folded), example: 'ORD-5512-X' },
  { act: 'nothing', when: ({ folded, words }) => isSignOff(folded, words), example: 'Kind regards, Mara' },
  { act: 'nothing', when: ({ read }) => isIntroduction(read), example: "I'm Priya Anand." },
  { act: 'nothing', when: ({ read }) => isBareData(read), example: 'Harbour Road 12, 12345 Ruhstadt' },
  { act: 'give', when: ({ gives }) => gives, example: 'I have a quick question.' },
  { act: 'inform', example: 'The cabin stands by the lake.' },
];

export function userActOf(said: UserSentence): UserAct {
  return firstRule(USER_ACTS, said).act;
}

/** Asks for help and says no more. */
function isGeneric(sentence: ReadSentence): boolean {
  if (!says(sentence, 'general-help')) return false;
  return foldedWordsOf(substanceOf(sentence, { answers: true, also: ['general-help'] })).every(
    isFoldedStopWord,
  );
}

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

/** Only gives data. */
function isData(sentence: ReadSentence): boolean {
  return says(sentence, 'data') || DATA.test(sentence.folded);
}
