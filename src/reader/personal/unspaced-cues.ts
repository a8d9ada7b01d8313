/**
 * Finds cues at the end of an unspaced run: "我的订单号是", "주문번호는".
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { everyPhrase, PERSONAL_LANGUAGES, type PersonalSection } from './personal-lexicon.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';

const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー々 a-z]+$/u;

function setOf(section: PersonalSection): ReadonlySet<string> {
  return new Set(
    everyPhrase(section).filter((phrase) => UNSPACED.test(phrase) && !/^[a-z ]+$/u.test(phrase)),
  );
}

/** The kinds of value that the cue at the end of a run announces. */
export interface SuffixCue {
  readonly numbered: boolean;
  readonly technical: boolean;
  readonly secret: boolean;
  readonly userName: boolean;
  readonly birth: boolean;
}

const NONE: SuffixCue = { numbered: false, technical: false, secret: false, userName: false, birth: false };

/** Cues by phrase. */
const CUES = new Map<string, SuffixCue>();
for (const [kind, section] of [
  ['numbered', 'numbered'],
  ['technical', 'technical'],
  ['secret', 'secrets'],
  ['userName', 'userNames'],
  ['birth', 'births'],
] as const) {
  for (const phrase of setOf(section)) CUES.set(phrase, { ...(CUES.get(phrase) ?? NONE), [kind]: true });
}
/** Words between a cue and its value. */
const BETWEEN = new RegExp(`${anyWordOf(PERSONAL_WORDS.unspacedBetween)}$`, 'u');
const LONGEST = 16;

/** The cue at the end of a run; all false if there is none. */
export function suffixCue(run: string): SuffixCue {
  let end = run.slice(-LONGEST);
  for (let stripped = 0; stripped < 3; stripped += 1) {
    const found = cueAtEnd(end);
    if (found !== NONE) return found;
    const shorter = end.replace(BETWEEN, '');
    if (shorter === end) break;
    end = shorter;
  }
  return NONE;
}

const LAST_UNITS: ReadonlySet<number> = new Set(
  [...CUES.keys()].map((cue) => cue.charCodeAt(cue.length - 1)),
);

function cueAtEnd(run: string): SuffixCue {
  if (!LAST_UNITS.has(run.charCodeAt(run.length - 1))) return NONE;
  for (let start = 0; start < run.length; start += 1) {
    const found = CUES.get(run.slice(start));
    if (found !== undefined) return found;
  }
  return NONE;
}

/** The languages with unspaced runs. */
export const RUN_LANGUAGES = ['zh', 'ja', 'ko', 'th'].map((code) => PERSONAL_LANGUAGES.get(code)!);
