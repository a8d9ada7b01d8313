/** Names and addresses in Chinese, Japanese, Korean and Thai, where no spaces part the words. */
import { nameEnd } from './names.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { RUN_LANGUAGES } from './unspaced-cues.ts';
import { PERSONAL_WORDS } from './personal-words.ts';

const [ZH, JA, KO, TH] = RUN_LANGUAGES as [
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
  (typeof RUN_LANGUAGES)[number],
];

const HAN = /^\p{Script=Han}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL = /^\p{Script=Hangul}/u;
const THAI = /^\p{Script=Thai}/u;

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

function hideIn({ spans }: Reading, piece: Piece, from: number, to: number): void {
  if (to > from) spans.push({ start: piece.start + from, end: piece.start + to, kind: 'name' });
}

const FIRST = new Map<ReadonlySet<string>, ReadonlySet<number>>();

function firstLetters(phrases: ReadonlySet<string>): ReadonlySet<number> {
  const known = FIRST.get(phrases) ?? new Set([...phrases].map((phrase) => phrase.charCodeAt(0)));
  FIRST.set(phrases, known);
  return known;
}

/** The places in a run behind any of some phrases. */
function* behind(
  run: string,
  phrases: ReadonlySet<string>,
  longest: number,
): Iterable<{ at: number; phrase: string }> {
  const first = firstLetters(phrases);
  for (let from = 0; from < run.length; from += 1) {
    if (!first.has(run.charCodeAt(from))) continue;
    for (let length = Math.min(longest, run.length - from); length > 0; length -= 1) {
      const phrase = run.slice(from, from + length);
      if (!phrases.has(phrase)) continue;
      yield { at: from + length, phrase };
      break;
    }
  }
}

const SURNAMES = PERSONAL_WORDS.chineseSurnames;
const DOUBLE_SURNAMES = PERSONAL_WORDS.chineseDoubleSurnames;
const NO_GIVEN = PERSONAL_WORDS.noChineseGivenNames;
const ZH_STRONG = new Set(ZH.introductions.filter((phrase) => HAN.test(phrase)));
const ZH_WEAK = new Set(ZH.presentations.filter((phrase) => HAN.test(phrase)));
const ZH_PERSONS = new Set(ZH.persons);
const ZH_TITLES = /(?:先生|女士|小姐|太太|老师|经理|医生|师傅)/gu;

/** The length of the Chinese name that a run begins with, or 0. */
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
    const from = at + (/^(?:是|叫|为)/u.exec(run.slice(at))?.[0].length ?? 0);
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
    if (length > 1 && at + length === run.length && length < 4 && !/(?:卡|员|户|级)/u.test(run.slice(at)))
      hideIn(reading, piece, at, at + length);
  }
  for (const { at } of behind(run, ZH_PERSONS, 4))
    hideIn(reading, piece, at, at + chineseName(run.slice(at)));
  for (const { index } of run.matchAll(ZH_TITLES)) {
    for (const back of [3, 2, 1]) {
      const name = run.slice(index - back, index);
      if (index < back || name.length < back) continue;
      if (SURNAMES.has(name[0]!) && (back === 1 || chineseName(name) === back)) {
        hideIn(reading, piece, index - back, index);
        break;
      }
    }
  }
}

/** "姓名：王芳", "名前：田中", "我叫 Anna". */
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
const JA_NAME_END = /^(?:です|と申|といい|と言|だ|で|の|を|が|は|に|と|も|、)/u;
const JA_HONORIFIC = /(?:様|さま|さん|氏|くん|君|ちゃん)/gu;
const JA_NO_NAME =
  /(?:客|皆|神|子|他|上|同|何|奥|者|員|主|父|母|兄|姉|弟|妹|娘|息|業|社|店|名|方|医|沢山|患)$/u;
const NAME_CHARACTER = /[\p{Script=Han}\p{Script=Katakana}ー々]/u;

/** The length of the name that a run begins with: up to eight characters of Han or katakana, or a few of hiragana. */
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
    const from = at + (/^(?:は|が|の)/u.exec(run.slice(at))?.[0].length ?? 0);
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
    if (length > 1 && length < 5 && /^(?:の|が|は|に|を|と|さん|様|も|で|です)/u.test(rest))
      hideIn(reading, piece, at, at + length);
  }
  const said = /と申し|といいます|と言います|だよ。|と申す/u.exec(run)?.index ?? -1;
  if (said > 0) hideBackwards(reading, piece, said, false);
  for (const { index } of run.matchAll(JA_HONORIFIC)) hideBackwards(reading, piece, index, true);
  const first = japaneseName(run);
  if (
    first > 1 &&
    /^(?:です|と申)/u.test(run.slice(first)) &&
    startsWithSurname(run.slice(0, first)) &&
    first < 6
  )
    hideIn(reading, piece, 0, first);
}

/** The name that ends at a place. */
function hideBackwards(reading: Reading, piece: Piece, end: number, honorific: boolean): void {
  const run = piece.text;
  let from = end;
  while (from > 0 && end - from < 8 && NAME_CHARACTER.test(run[from - 1]!)) from -= 1;
  const name = run.slice(from, end);
  if (name.length < (honorific ? 2 : 1) || (honorific && JA_NO_NAME.test(name))) return;
  if (honorific && HAN.test(name) && !startsWithSurname(name) && name.length > 4) return;
  hideIn(reading, piece, from, end);
}

const KO_SURNAMES = PERSONAL_WORDS.koreanSurnames;
const KO_FIELDS = new Set(KO.introductions.map((phrase) => phrase.split(' ').at(-1)!));
const KO_WEAK = new Set(KO.presentations);
const KO_PERSONS = new Set(KO.persons.map((phrase) => phrase.split(' ').at(-1)!));
const KO_NAME =
  /^([\p{Script=Hangul}]{2,4}?)(?:입니다|이에요|예요|이고|라고|이라고|인데|이며|이야|이요|의|은|는|이|가|을|를|에게|한테|님|씨|와|과|랑|$)/u;
const KO_HONORIFIC = /^([\p{Script=Hangul}]{3})(?:님|씨)(?:$|[은는이가을를의께에과와도])/u;
const KO_NO_NAME = PERSONAL_WORDS.noKoreanNames;

/** The length of the Korean name that a piece begins with, or 0. */
function koreanName(text: string): number {
  const name = KO_NAME.exec(text)?.[1] ?? '';
  if (KO_NO_NAME.has(name) || KO_NO_NAME.has(text)) return 0;
  return KO_SURNAMES.has(name[0] ?? '') && name.length > 1 ? name.length : 0;
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
    if (length === 3 || (length === 2 && next.text.length > 2)) hideIn(reading, next, 0, length);
  }
  const honoured = KO_HONORIFIC.exec(piece.text)?.[1];
  if (honoured !== undefined && KO_SURNAMES.has(honoured[0]!) && !KO_NO_NAME.has(honoured))
    hideIn(reading, piece, 0, 3);
  if (
    /^(?:님|씨)/u.test(next?.text ?? '') &&
    piece.text.length === 3 &&
    KO_SURNAMES.has(piece.text[0]!) &&
    !KO_NO_NAME.has(piece.text)
  )
    hideIn(reading, piece, 0, 3);
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
const TH_END = /(?:ครับ|ค่ะ|คะ|นะ|อยาก|ต้องการ|จะ|ขอ|มี|ไม่|และ|ที่|ได้|เป็น|ลืม|สั่ง)/u;
const TH_STOPS = new Set(TH.notNames);

function findThai(reading: Reading, place: number): void {
  const { pieces } = reading;
  const piece = pieces[place]!;
  for (const phrases of [TH_FIELDS, TH_TITLES]) {
    for (const { at } of behind(piece.text, phrases, 16)) {
      const from = at + (/^(?:คือ|ว่า)/u.exec(piece.text.slice(at))?.[0].length ?? 0);
      const rest = piece.text.slice(from);
      const stop = rest.search(TH_END);
      const length = stop < 0 ? rest.length : stop;
      if (
        length > 1 &&
        length < 24 &&
        ![...TH_STOPS].some((word) => rest.startsWith(word)) &&
        !/^(?:ผู้|สินค้า|บัญชี|เล่น)/u.test(rest)
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
}
