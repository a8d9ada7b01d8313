/**
 * Finds addresses in Chinese, Japanese and Korean: a street or quarter, and the numbers after it.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';
import type { Reading } from './reading.ts';

const HANGUL = /^\p{Script=Hangul}/u;
const ends = (list: ReadonlySet<string>): RegExp => new RegExp(`${anyWordOf(list)}$`, 'u');
const begins = (list: ReadonlySet<string>): RegExp => new RegExp(`^${anyWordOf(list)}`, 'u');

const HAN_STREET = ends(PERSONAL_WORDS.hanStreetEnds);
const HAN_HOUSE = begins(PERSONAL_WORDS.hanHouseUnits);
const HAN_DISTRICT = new RegExp(anyWordOf(PERSONAL_WORDS.hanDistricts), 'u');
const ADMIN = new RegExp(String.raw`\p{Script=Han}{2,3}?${anyWordOf(PERSONAL_WORDS.hanRegions)}`, 'u');
const HAN_CUE = new RegExp(anyWordOf(PERSONAL_WORDS.hanAddressCues), 'u');
const HANGUL_STREET = ends(PERSONAL_WORDS.koreanStreetEnds);
const HANGUL_ROAD = ends(PERSONAL_WORDS.koreanRoads);
const HANGUL_UNIT = begins(PERSONAL_WORDS.koreanHouseUnits);
const HANGUL_TOWN = ends(PERSONAL_WORDS.koreanTowns);
/** Endings of the parts of a Korean address: towns, quarters, streets. */
const HANGUL_PART = ends(
  new Set([...PERSONAL_WORDS.koreanTowns, ...PERSONAL_WORDS.koreanVillages, ...PERSONAL_WORDS.koreanRoads]),
);

/** True for a street, or a Japanese quarter before its numbers: "北区梅田" before "1-2-3". */
function isHanStreet({ pieces }: Reading, place: number): boolean {
  const { text } = pieces[place]!;
  if (HAN_STREET.test(text)) return true;
  return (
    HAN_DISTRICT.test(text) &&
    /^[-−]$/u.test(pieces[place + 2]?.text ?? '') &&
    pieces[place + 3]?.kind === 'number'
  );
}

/** Finds "建国路88号", "桜木町3-15-8", "은행나무로 27길 14, 301호". */
function findAddress(reading: Reading, place: number): void {
  const { pieces, spans } = reading;
  const piece = pieces[place]!;
  const number = pieces[place + 1];
  if (number?.kind !== 'number' || number.line) return;
  const korean = HANGUL.test(piece.text);
  if (korean ? !HANGUL_STREET.test(piece.text) || piece.text.length < 3 : !isHanStreet(reading, place))
    return;
  if (!korean && number.spaced) return;
  let end = number.end;
  let units = 0;
  for (let at = place + 2, joints = 0; at < pieces.length && at < place + 16; at += 1) {
    const next = pieces[at]!;
    if (next.line) break;
    if (next.kind === 'number') {
      end = next.end;
      joints = 0;
    } else if (next.kind === 'mark' && /^[-−,，の ]$/u.test(next.text) && joints < 1) {
      joints += 1;
    } else if (next.kind === 'unspaced') {
      const unit = (korean ? HANGUL_UNIT : HAN_HOUSE).exec(next.text)?.[0];
      if (unit === undefined) break;
      units += 1;
      end = next.start + unit.length;
      joints = 0;
      if (next.text.length > unit.length) break;
    } else break;
  }
  const shape = reading.text.slice(number.start, end);
  const surely =
    units > 0 ||
    /[-−]/u.test(shape) ||
    (korean && HANGUL_TOWN.test(pieces[place - 1]?.text ?? '')) ||
    (korean && HANGUL_ROAD.test(piece.text) && piece.text.length > 3);
  if (!surely) return;
  let from = piece.start;
  if (korean) {
    for (let at = place - 1; at >= 0 && at > place - 5 && HANGUL_PART.test(pieces[at]!.text); at -= 1)
      from = pieces[at]!.start;
  } else {
    const admin = ADMIN.exec(piece.text)?.index ?? -1;
    const cue = HAN_CUE.exec(piece.text);
    from += Math.max(cue === null ? 0 : cue.index + cue[0].length, Math.min(admin, piece.text.length), 0);
  }
  spans.push({ start: Math.min(from, number.start), end, kind: 'address' });
}

/** Adds the spans of addresses in runs without spaces. */
export function findUnspacedPlaces(reading: Reading): void {
  if (!reading.unspaced || !reading.numbers) return;
  for (const [place, piece] of reading.pieces.entries())
    if (piece.kind === 'unspaced') findAddress(reading, place);
}
