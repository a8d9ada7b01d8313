/**
 * The phrases of satisfaction and dissatisfaction in `lexicon/<language>/signals.json`, and the signal of each kind.
 * Each kind is declared once, in `SIGNAL_PHRASES`.
 *
 * Test: test/reader/acts/signals.test.ts.
 */
import { ASSISTANT_ACTS, type AssistantAct } from '../../domain/facts.ts';
import type { SignalKey } from '../../domain/signal-kinds.ts';
import { once } from '../document/once.ts';
import { loadPhraseFiles, type PhraseFile } from '../phrases/phrase-files.ts';
import { PhraseMatcher } from '../phrases/phrase-matcher.ts';

/** Acts after which a courtesy speaks of an answer; after others it is mere politeness, or answers a question. */
const ANSWERED: readonly AssistantAct[] = ['answered', 'asked-if-helped', 'asked-for-more'];
/** Acts after which a turn answers no question. */
const NOT_ASKED = ASSISTANT_ACTS.filter((act) => act !== 'asked' && act !== 'asked-about');
const NOT_REFUSED = ASSISTANT_ACTS.filter((act) => act !== 'unable');

interface Meaning {
  readonly type: 'SAT' | 'DSAT';
  readonly keys: readonly SignalKey[];
  readonly needs: readonly AssistantAct[];
  /** A courtesy counts only if the turn says nothing else, and not before a contrast. */
  readonly courtesy?: true;
  /** Counts only if the turn says nothing besides. */
  readonly alone?: true;
  /** True for a phrase that may speak of a thing as well as of the answer. */
  readonly aboutThing?: true;
  /** Counts in a question too. */
  readonly inQuestions?: true;
  /** Counts only in a turn without thanks or praise. */
  readonly unthanked?: true;
}

/**
 * The kinds of phrases of a user turn. `warm`: thanks that are more than polite ("thank you so much"). `told`: the
 * assistant asks for something that it was told before. `rejection`: "no, the other one", a correction after an answer,
 * and an answer after a question. `leaves`: the user goes on without the assistant ("I'll call them"), perhaps on its
 * advice.
 */
export const SIGNAL_PHRASES = {
  thanks: { type: 'SAT', keys: ['gratitude'], needs: ANSWERED, courtesy: true },
  warm: { type: 'SAT', keys: ['gratitude'], needs: NOT_REFUSED, courtesy: true },
  praise: { type: 'SAT', keys: ['praise'], needs: ASSISTANT_ACTS },
  approval: {
    type: 'SAT',
    keys: ['praise'],
    needs: ['answered', 'asked-for-more'],
    courtesy: true,
    alone: true,
  },
  solved: { type: 'SAT', keys: ['problem-solved'], needs: ASSISTANT_ACTS },
  closing: { type: 'SAT', keys: ['positive-closing'], needs: ANSWERED, courtesy: true },
  acknowledgement: {
    type: 'SAT',
    keys: ['acknowledgement'],
    needs: NOT_REFUSED,
    courtesy: true,
    alone: true,
  },
  yes: { type: 'SAT', keys: ['praise'], needs: ['asked-if-helped'] },
  no: { type: 'DSAT', keys: ['correction'], needs: ['answered'] },
  failed: {
    type: 'DSAT',
    keys: ['negative-feedback'],
    needs: ASSISTANT_ACTS,
    inQuestions: true,
    aboutThing: true,
  },
  'bad-answer': { type: 'DSAT', keys: ['negative-feedback'], needs: ASSISTANT_ACTS, aboutThing: true },
  correction: { type: 'DSAT', keys: ['correction'], needs: ASSISTANT_ACTS, inQuestions: true },
  rejection: {
    type: 'DSAT',
    keys: ['correction'],
    needs: ['answered', 'unable', 'waiting'],
    aboutThing: true,
  },
  'said-so': {
    type: 'DSAT',
    keys: ['correction', 'ignored-instruction'],
    needs: NOT_ASKED,
    inQuestions: true,
  },
  told: { type: 'DSAT', keys: ['ignored-instruction'], needs: ASSISTANT_ACTS, inQuestions: true },
  wrong: { type: 'DSAT', keys: ['factual-error'], needs: ASSISTANT_ACTS, aboutThing: true },
  doubt: { type: 'DSAT', keys: ['factual-error'], needs: NOT_ASKED, inQuestions: true, aboutThing: true },
  repeat: { type: 'DSAT', keys: ['repetition'], needs: ASSISTANT_ACTS, inQuestions: true },
  vague: {
    type: 'DSAT',
    keys: ['insufficient-detail'],
    needs: ASSISTANT_ACTS,
    inQuestions: true,
    aboutThing: true,
  },
  angry: { type: 'DSAT', keys: ['frustration'], needs: ASSISTANT_ACTS, inQuestions: true, aboutThing: true },
  irony: { type: 'DSAT', keys: ['frustration'], needs: ASSISTANT_ACTS, inQuestions: true },
  'gives-up': { type: 'DSAT', keys: ['gives-up'], needs: ASSISTANT_ACTS },
  leaves: { type: 'DSAT', keys: ['gives-up'], needs: ['unable'], unthanked: true },
  human: { type: 'DSAT', keys: ['gives-up'], needs: ASSISTANT_ACTS, inQuestions: true },
} as const satisfies Record<string, Meaning>;

export type SignalPhrase = keyof typeof SIGNAL_PHRASES;

export function meaningOf(phrase: SignalPhrase): Meaning {
  return SIGNAL_PHRASES[phrase];
}

/**
 * Further kinds. `earlier`: the turn speaks of an answer before its session. `task`: it gives or wants words to write,
 * translate or explain. `wants`: it asks for something. `polite`: greetings, farewells, and other words beside praise
 * that say nothing. `ends`: it wants nothing more ("that's all"). `agrees`: it accepts ("sounds good"). `insists`: it
 * speaks of the answer or of another try ("still", "tried that", "your"), so that a reported failure is no answer to a
 * question. `asks`: the assistant asks without a question mark.
 */
const OF_USERS = ['earlier', 'task'] as const;
const BESIDE = ['wants', 'polite', 'ends', 'agrees', 'insists'] as const;
const OF_ASSISTANTS = ['asks-if-helped', 'asks-for-more', 'asks-about', 'asks', 'unable', 'waits'] as const;

export type UserPhrase = SignalPhrase | (typeof OF_USERS)[number];
export type BesidePhrase = (typeof BESIDE)[number];
export type AssistantPhrase = (typeof OF_ASSISTANTS)[number];

/** True for a kind that may become a signal. */
export function isSignalPhrase(kind: UserPhrase): kind is SignalPhrase {
  return kind in SIGNAL_PHRASES;
}

/** The matchers for users and assistants. Throws SetupError at the first call if a file cannot be used. */
export const signalPhrases = once(() => {
  const ofUsers: readonly UserPhrase[] = [...(Object.keys(SIGNAL_PHRASES) as SignalPhrase[]), ...OF_USERS];
  const kinds = [...ofUsers, ...BESIDE, ...OF_ASSISTANTS];
  const files = loadPhraseFiles({ purpose: 'signals', kinds, checked: false });
  const matcherOf = <Kind extends (typeof kinds)[number]>(of: readonly Kind[]): PhraseMatcher<Kind> =>
    new PhraseMatcher<Kind>(
      files.map((file) => withKinds(file, of)),
      { strict: true },
    );
  return {
    user: matcherOf(ofUsers),
    /** Phrases beside a hit; only turns with a hit are matched against them. */
    beside: matcherOf(BESIDE),
    assistant: matcherOf(OF_ASSISTANTS),
  };
});

/** UTF-16 units that are read at each end of a longer text: complaints and thanks open or close a turn. */
const READ_AT_EACH_END = 600;

/** Both ends of a long text; the whole of a short one. */
export function endsOf(text: string): string {
  if (text.length <= 2 * READ_AT_EACH_END) return text;
  return `${text.slice(0, READ_AT_EACH_END)}\n${text.slice(-READ_AT_EACH_END)}`;
}

function withKinds<Kind extends string, All extends string>(
  file: PhraseFile<All>,
  kinds: readonly (Kind & All)[],
): PhraseFile<Kind> {
  const of = kinds
    .map((kind) => [kind, file.kinds[kind]] as const)
    .filter(([, phrases]) => phrases !== undefined);
  return { ...file, kinds: Object.fromEntries(of) as PhraseFile<Kind>['kinds'] };
}
