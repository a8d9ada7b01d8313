/** Cues at the end of a run of letters that no space parts: "我的订单号是", "주문번호는". */
import { everyPhrase, PERSONAL_LANGUAGES, type PersonalSection } from './personal-lexicon.ts';

const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー々 a-z]+$/u;

function setOf(section: PersonalSection): ReadonlySet<string> {
  return new Set(
    everyPhrase(section).filter((phrase) => UNSPACED.test(phrase) && !/^[a-z ]+$/u.test(phrase)),
  );
}

const NUMBERED = setOf('numbered');
const TECHNICAL = setOf('technical');
const SECRETS = setOf('secrets');
const USER_NAMES = setOf('userNames');
const BIRTHS = setOf('births');
/** What stands between a cue and its value. */
const BETWEEN = /(?:是|为|為|就是|叫|は|が|のは|은|는|이|가|คือ|เป็น|号码|号|码|番号|번호)$/u;
const LONGEST = 16;

/** What the end of a run names. */
export interface SuffixCue {
  readonly numbered: boolean;
  readonly technical: boolean;
  readonly secret: boolean;
  readonly userName: boolean;
  readonly birth: boolean;
}

const NONE: SuffixCue = { numbered: false, technical: false, secret: false, userName: false, birth: false };

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

function cueAtEnd(run: string): SuffixCue {
  for (let start = Math.max(0, run.length - LONGEST); start < run.length; start += 1) {
    const tail = run.slice(start);
    const [technical, secret, userName] = [TECHNICAL.has(tail), SECRETS.has(tail), USER_NAMES.has(tail)];
    const [numbered, birth] = [NUMBERED.has(tail), BIRTHS.has(tail)];
    if (technical || secret || userName || numbered || birth)
      return { numbered, technical, secret, userName, birth };
  }
  return NONE;
}

/** The languages that are read in runs. */
export const RUN_LANGUAGES = ['zh', 'ja', 'ko', 'th'].map((code) => PERSONAL_LANGUAGES.get(code)!);
