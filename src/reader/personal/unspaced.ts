/**
 * Finds names in Chinese, Japanese, Korean and Thai, where no spaces separate words.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { personNames } from './names-lexicon.ts';
import { nameEnd } from './names.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { RUN_LANGUAGES } from './unspaced-cues.ts';
import { behind, hideIn } from './unspaced-runs.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';

const [ZH, JA, KO, TH] = RUN_LANGUAGES as [
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
];

const HAN = /^\p{Script=Han}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL = /^\p{Script=Hangul}/u;
function beginning(list: ReadonlySet<string>): RegExp {
  return new RegExp(`^${anyWordOf(list)}`, 'u');
}

const THAI = /^\p{Script=Thai}/u;

/** Adds the spans of names in runs without spaces. */
export function findUnspaced(reading: Reading): void {
  const { pieces } = reading;
  if (!reading.unspaced) return;
  const isJapanese = KANA.test(reading.text);
  for (const [place, piece] of pieces.entries()) {
    if (piece.kind !== 'unspaced') continue;
    if (HANGUL.test(piece.text)) findKorean(reading, place);
    else if (THAI.test(piece.text)) findThai(reading, place);
    else if (isJapanese) findJapanese(reading, place);
    else findChinese(reading, place);
  }
}

const SURNAMES = PERSONAL_WORDS.chineseSurnames;
const DOUBLE_SURNAMES = PERSONAL_WORDS.chineseDoubleSurnames;
const NO_GIVEN = PERSONAL_WORDS.noChineseGivenNames;
const ZH_STRONG = new Set(ZH.introductions.filter((phrase) => HAN.test(phrase)));
const ZH_WEAK = new Set(ZH.presentations.filter((phrase) => HAN.test(phrase)));
const ZH_COPULA = beginning(PERSONAL_WORDS.chineseCopulas);
const ZH_NO_NAME = new RegExp(anyWordOf(PERSONAL_WORDS.chineseNoNames), 'u');
const ZH_PERSONS = new Set(ZH.persons);
const ZH_TITLES = new RegExp(anyWordOf(PERSONAL_WORDS.chineseTitles), 'gu');

/** Length of the Chinese name at the start of a run, or 0. */
function chineseName(rest: string): number {
  const surname = DOUBLE_SURNAMES.has(rest.slice(0, 2)) ? 2 : SURNAMES.has(rest[0] ?? '') ? 1 : 0;
  if (surname === 0) return 0;
  let length = surname;
  while (
    length < surname + 2 &&
    length < rest.length &&
    !NO_GIVEN.has(rest[length]!) &&
    HAN.test(rest[length]!)
  )
    length += 1;
  return length > surname ? length : 0;
}

function findChinese(reading: Reading, place: number): void {
  const piece = reading.pieces[place]!;
  const run = piece.text;
  for (const { at } of behind(run, ZH_STRONG, 6)) {
    const from = at + (ZH_COPULA.exec(run.slice(at))?.[0].length ?? 0);
    const rest = run.slice(from);
    if (rest === '') {
      hideNext(reading, place);
      continue;
    }
    const length = chineseName(rest);
    if (length > 0) hideIn(reading, piece, from, from + length);
    else if (rest.length > 1 && rest.length < 5 && ![...rest].some((one) => NO_GIVEN.has(one)))
      hideIn(reading, piece, from, run.length);
  }
  for (const { at } of behind(run, ZH_WEAK, 4)) {
    const length = chineseName(run.slice(at));
    if (length > 1 && at + length === run.length && length < 4 && !ZH_NO_NAME.test(run.slice(at)))
      hideIn(reading, piece, at, at + length);
  }
  findChineseDoers(reading, piece);
  for (const { at } of behind(run, ZH_PERSONS, 4)) {
    const isGiven = ZH_GIVEN.has(run[at] ?? '') && ZH_GIVEN.has(run[at + 1] ?? '');
    hideIn(reading, piece, at, at + (chineseName(run.slice(at)) || (isGiven ? 2 : 0)));
  }
  for (const { index } of run.matchAll(ZH_TITLES)) {
    for (const back of [4, 3, 2, 1]) {
      const name = run.slice(index - back, index);
      if (index < back || name.length < back) continue;
      if (
        DOUBLE_SURNAMES.has(name) ||
        (SURNAMES.has(name[0]!) && (back === 1 || chineseName(name) === back))
      ) {
        hideIn(reading, piece, index - back, index);
        break;
      }
    }
  }
}

/** Acts of people, after their name. */
const ZH_ACTS = new RegExp(`^${anyWordOf(PERSONAL_WORDS.chineseDeeds)}`, 'u');
/** Words before a person whom one deals with. */
const ZH_DEALINGS = new RegExp(anyWordOf(PERSONAL_WORDS.chineseDealings), 'gu');
const ZH_SURE_DEALINGS = PERSONAL_WORDS.chineseSureDealings;
/** Characters of given names. */
const ZH_GIVEN = PERSONAL_WORDS.chineseGivenCharacters;
const ZH_BEGINNINGS = new RegExp(`^${anyWordOf(PERSONAL_WORDS.chineseBeginnings)}`, 'u');

/** Finds names beside acts: "欧阳静雯说过了", "请抄送给司徒浩". */
function findChineseDoers(reading: Reading, piece: Piece): void {
  const run = piece.text;
  const start = ZH_BEGINNINGS.exec(run)?.[0].length ?? 0;
  for (const from of new Set([0, start])) hideChineseDoer(reading, piece, from, false);
  for (const { 0: dealing, index } of run.matchAll(ZH_DEALINGS))
    hideChineseDoer(reading, piece, index + dealing.length, true, ZH_SURE_DEALINGS.has(dealing));
}

function mayBeGiven(run: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (NO_GIVEN.has(run[at]!) || !HAN.test(run[at]!)) return false;
  return true;
}

/** Surnames that also begin words. */
const ZH_NO_DOUBLE = PERSONAL_WORDS.unsureChineseSurnames;

/**
 * Hides a name at `from`. `announced`: the words before announce a person, so the name may end the run. `sure`: "了" may
 * follow too.
 */
function hideChineseDoer(
  reading: Reading,
  piece: Piece,
  from: number,
  announced: boolean,
  sure = false,
): void {
  const run = piece.text;
  const isDouble = DOUBLE_SURNAMES.has(run.slice(from, from + 2));
  if (!isDouble && !SURNAMES.has(run[from] ?? '')) return;
  const given = from + (isDouble ? 2 : 1);
  for (const length of [2, 1]) {
    const end = given + length;
    if (end > run.length || !mayBeGiven(run, given, end)) continue;
    const ends = (end === run.length || (sure && run[end] === '了')) && announced && end - from > 2;
    const isSure = isDouble && !ZH_NO_DOUBLE.has(run.slice(from, given)) && length === 1;
    if (!ends && !isSure && !ZH_ACTS.test(run.slice(end, end + 4))) continue;
    hideIn(reading, piece, from, end);
    return;
  }
}

/** Hides the name in the next piece: "姓名：王芳", "名前：田中", "我叫 Anna". */
function hideNext(reading: Reading, place: number): void {
  const { pieces } = reading;
  let at = place + 1;
  while (at < place + 3 && /^[:：「『"“（(]$/u.test(pieces[at]?.text ?? '')) at += 1;
  const next = pieces[at];
  if (next === undefined || next.line) return;
  if (next.kind === 'word') {
    if (next.capital) reading.hide(at, nameEnd(reading, at, false), 'name');
    return;
  }
  if (next.kind !== 'unspaced') return;
  const length = HANGUL.test(next.text) ? koreanName(next.text) : chineseName(next.text);
  const short = next.text.length < 6 ? next.text.length : 0;
  hideIn(reading, next, 0, length > 0 ? length : short);
}

const JA_SURNAMES = PERSONAL_WORDS.japaneseSurnames;
const JA_FIELDS = new Set(JA.introductions);
const JA_WEAK = new Set(JA.presentations);
const JA_PERSONS = new Set(JA.persons);
const JA_PARTICLE = beginning(PERSONAL_WORDS.japaneseFieldParticles);
const JA_NAME_END = beginning(PERSONAL_WORDS.japaneseNameEnds);
const JA_PERSON_END = beginning(PERSONAL_WORDS.japanesePersonEnds);
const JA_SAYING = new RegExp(anyWordOf(PERSONAL_WORDS.japaneseSayings), 'u');
const JA_HONORIFIC = new RegExp(anyWordOf(PERSONAL_WORDS.japaneseHonorifics), 'gu');
/** Words before a name, in one run. */
const JA_BEGINNINGS = new RegExp(`^${anyWordOf(PERSONAL_WORDS.japaneseBeginnings)}{1,4}`, 'u');
const JA_NO_NAME = new RegExp(`${anyWordOf(PERSONAL_WORDS.noJapaneseNameEnds)}$`, 'u');
const NAME_CHARACTER = /[\p{Script=Han}\p{Script=Katakana}ー々]/u;

/** Length of the Japanese name at the start of a run: up to eight characters of Han or katakana. */
function japaneseName(rest: string): number {
  let length = 0;
  while (length < 8 && length < rest.length && NAME_CHARACTER.test(rest[length]!)) length += 1;
  return length;
}

function startsWithSurname(name: string): boolean {
  return [3, 2, 1].some(
    (length) => JA_SURNAMES.has(name.slice(0, length)) && (length > 1 || name.length < 4),
  );
}

function findJapanese(reading: Reading, place: number): void {
  const piece = reading.pieces[place]!;
  const run = piece.text;
  for (const { at, phrase } of behind(run, JA_FIELDS, 6)) {
    const from = at + (JA_PARTICLE.exec(run.slice(at))?.[0].length ?? 0);
    const rest = run.slice(from);
    if (rest === '') {
      hideNext(reading, place);
      continue;
    }
    const length = japaneseName(rest);
    if (length > 1 && JA_NAME_END.test(rest.slice(length)) && (from > at || phrase.endsWith('は')))
      hideIn(reading, piece, from, from + length);
  }
  for (const { at } of behind(run, JA_WEAK, 4)) {
    const length = japaneseName(run.slice(at));
    if (length > 1 && startsWithSurname(run.slice(at, at + length))) hideIn(reading, piece, at, at + length);
  }
  for (const { at } of behind(run, JA_PERSONS, 7)) {
    const length = japaneseName(run.slice(at));
    const rest = run.slice(at + length);
    if (length > 1 && length < 5 && JA_PERSON_END.test(rest)) hideIn(reading, piece, at, at + length);
  }
  const saying = JA_SAYING.exec(run)?.index ?? -1;
  if (saying > 0) hideBackwards(reading, place, saying, false);
  for (const { index } of run.matchAll(JA_HONORIFIC)) hideBackwards(reading, place, index, true);
  const first = japaneseName(run);
  if (
    first > 1 &&
    /^(?:です|と申)/u.test(run.slice(first)) &&
    startsWithSurname(run.slice(0, first)) &&
    first < 6
  )
    hideIn(reading, piece, 0, first);
}

/** Hides the name that ends at an index. */
function hideBackwards(reading: Reading, place: number, end: number, honorific: boolean): void {
  const piece = reading.pieces[place]!;
  const run = piece.text;
  let from = end;
  while (from > 0 && end - from < 8 && NAME_CHARACTER.test(run[from - 1]!)) from -= 1;
  from += JA_BEGINNINGS.exec(run.slice(from, end))?.[0].length ?? 0;
  const name = run.slice(from, end);
  // "東雲 楓の名前".
  if (from === 0 && name.length > 0 && name.length < 4) hideFamilyBefore(reading, place);
  if (name.length < (honorific ? 2 : 1) || (honorific && JA_NO_NAME.test(name))) return;
  if (honorific && HAN.test(name) && !startsWithSurname(name) && name.length > 4) return;
  hideIn(reading, piece, from, end);
}

/** Hides a family name that a blank separates from the given name. */
function hideFamilyBefore(reading: Reading, place: number): void {
  const piece = reading.pieces[place]!;
  const before = reading.pieces[place - 1];
  if (before?.kind !== 'unspaced' || piece.line || !piece.spaced) return;
  const name = /[\p{Script=Han}々]{1,4}$/u.exec(before.text)?.[0];
  if (
    name === undefined ||
    (name.length < before.text.length && !/[はがのを]$/u.test(before.text.slice(0, -name.length)))
  )
    return;
  hideIn(reading, before, before.text.length - name.length, before.text.length);
  hideIn(reading, piece, 0, japaneseName(piece.text));
}

const KO_SURNAMES = PERSONAL_WORDS.koreanSurnames;
const KO_FIELDS = new Set(KO.introductions.map((phrase) => phrase.split(' ').at(-1)!));
const KO_WEAK = new Set(KO.presentations);
const KO_PERSONS = new Set(KO.persons.map((phrase) => phrase.split(' ').at(-1)!));
const KO_NAME =
  /^([\p{Script=Hangul}]{2,4}?)(?:입니다|이에요|예요|이고|라고|이라고|인데|이며|이야|이요|의|은|는|이|가|을|를|에게|한테|님|씨|와|과|랑|$)/u;
const KO_HONORIFIC = /^([\p{Script=Hangul}]{3,4})(?:님|씨)(?:$|[은는이가을를의께에과와도한])/u;
const KO_DOUBLE_SURNAMES = PERSONAL_WORDS.koreanDoubleSurnames;
/** Posts at work, after a name. */
const KO_POSTS = new RegExp(`^${anyWordOf(PERSONAL_WORDS.koreanPosts)}`, 'u');
/** Endings after a given name. */
const KO_BEHIND_GIVEN =
  /^(?:이?가|이?는|이?랑|이?한테|에게|이?를|이?의|이?도|님.{0,3}|씨.{0,2}|이?와|과|이|아|야|입니다|이에요|예요)?$/u;
const KO_NO_NAME = PERSONAL_WORDS.noKoreanNames;

/** Length of the Korean name at the start of a piece, or 0. */
function koreanName(text: string): number {
  const name = KO_NAME.exec(text)?.[1] ?? '';
  if (KO_NO_NAME.has(name) || KO_NO_NAME.has(text)) return 0;
  return KO_SURNAMES.has(name[0] ?? '') && name.length > 1 ? name.length : 0;
}

/** True if a name begins like a family name with a given name. */
function mayBeKorean(name: string): boolean {
  if (KO_NO_NAME.has(name)) return false;
  return KO_DOUBLE_SURNAMES.has(name.slice(0, 2)) || (name.length === 3 && KO_SURNAMES.has(name[0]!));
}

/** Length of the given name, with or without a family name, at the start of a piece, or 0. */
function koreanGiven(text: string): number {
  for (const family of [0, 1, 2]) {
    const own = text.slice(family, family + 2);
    if (own.length < 2 || !personNames().given.has(own)) continue;
    if (family === 1 && !KO_SURNAMES.has(text[0]!)) continue;
    if (family === 2 && !KO_DOUBLE_SURNAMES.has(text.slice(0, 2))) continue;
    if (KO_BEHIND_GIVEN.test(text.slice(family + 2))) return family + 2;
  }
  return 0;
}

function findKorean(reading: Reading, place: number): void {
  const { pieces } = reading;
  const piece = pieces[place]!;
  const next = pieces[place + 1];
  const isMarked = next?.text === ':';
  const value = isMarked ? pieces[place + 2] : next;
  if (KO_FIELDS.has(piece.text)) {
    if (
      value?.kind === 'unspaced' &&
      (isMarked || /[은는]$/u.test(piece.text) || koreanName(value.text) === 3)
    ) {
      const length =
        koreanName(value.text) ||
        (/[은는]$/u.test(piece.text) || isMarked ? (KO_NAME.exec(value.text)?.[1]?.length ?? 0) : 0);
      hideIn(reading, value, 0, length);
    }
  }
  if (
    KO_WEAK.has(piece.text) &&
    next?.kind === 'unspaced' &&
    /^[\p{Script=Hangul}]{3}(?:입니다|이에요|예요|이라고|라고|인데)/u.test(next.text)
  ) {
    if (KO_SURNAMES.has(next.text[0]!) && !KO_NO_NAME.has(next.text.slice(0, 3))) hideIn(reading, next, 0, 3);
  }
  if (KO_PERSONS.has(piece.text.replace(/(?:인|이|의)$/u, '')) && next?.kind === 'unspaced') {
    const length = koreanName(next.text);
    const own = koreanGiven(next.text);
    if (own > 0) hideIn(reading, next, 0, own);
    else if (length === 3 || (length === 2 && next.text.length > 2)) hideIn(reading, next, 0, length);
  }
  const honoured = KO_HONORIFIC.exec(piece.text)?.[1];
  if (honoured !== undefined && mayBeKorean(honoured)) hideIn(reading, piece, 0, honoured.length);
  const given = koreanGiven(piece.text);
  if (given > 0) hideIn(reading, piece, 0, given);
  if (
    KO_POSTS.test(next?.text ?? '') &&
    next?.line === false &&
    (piece.text.length === 3 || koreanGiven(piece.text) > 0 || KO_DOUBLE_SURNAMES.has(piece.text)) &&
    (mayBeKorean(piece.text) || piece.text.length === 2)
  )
    hideIn(reading, piece, 0, piece.text.length);
  if (
    /^[\p{Script=Hangul}]{3}(?:입니다|이라고|이에요)$/u.test(piece.text) &&
    KO_SURNAMES.has(piece.text[0]!) &&
    !KO_NO_NAME.has(piece.text.slice(0, 3)) &&
    (place === 0 || pieces[place - 1]!.text.startsWith('안녕'))
  )
    hideIn(reading, piece, 0, 3);
}

const TH_FIELDS = new Set(TH.introductions);
const TH_TITLES = new Set([...TH.titles].filter((title) => title.length > 2));
const TH_END = new RegExp(anyWordOf(PERSONAL_WORDS.thaiNameEnds), 'u');
const TH_COPULA = beginning(PERSONAL_WORDS.thaiCopulas);
const TH_NO_NAME = beginning(PERSONAL_WORDS.thaiNoNames);
const TH_HONORIFICS = PERSONAL_WORDS.thaiHonorifics;
const TH_GIVEN = new Set(TH.givenNames);
const LONGEST_THAI_GIVEN = Math.max(...TH.givenNames.map(({ length }) => length));
const TH_STOPS = new Set(TH.notNames);

function findThai(reading: Reading, place: number): void {
  const { pieces } = reading;
  const piece = pieces[place]!;
  for (const phrases of [TH_FIELDS, TH_TITLES]) {
    for (const { at } of behind(piece.text, phrases, 16)) {
      const from = at + (TH_COPULA.exec(piece.text.slice(at))?.[0].length ?? 0);
      const rest = piece.text.slice(from);
      const stop = rest.search(TH_END);
      const length = stop < 0 ? rest.length : stop;
      if (
        length > 1 &&
        length < 24 &&
        ![...TH_STOPS].some((word) => rest.startsWith(word)) &&
        !TH_NO_NAME.test(rest)
      )
        hideIn(reading, piece, from, from + length);
      const family = pieces[place + 1];
      if (
        stop < 0 &&
        family?.kind === 'unspaced' &&
        !family.line &&
        THAI.test(family.text) &&
        family.text.length < 20
      ) {
        const familyStop = family.text.search(TH_END);
        if (familyStop !== 0) hideIn(reading, family, 0, familyStop < 0 ? family.text.length : familyStop);
      }
      break;
    }
  }
  hideThaiGiven(reading, piece);
}

/** Hides a listed given name after an honorific: "คุณสมศักดิ์โทรมา". */
function hideThaiGiven(reading: Reading, piece: Piece): void {
  for (const { at } of behind(piece.text, TH_HONORIFICS, 6)) {
    for (let end = Math.min(at + LONGEST_THAI_GIVEN, piece.text.length); end > at + 2; end -= 1) {
      if (!TH_GIVEN.has(piece.text.slice(at, end))) continue;
      hideIn(reading, piece, at, end);
      break;
    }
  }
}
