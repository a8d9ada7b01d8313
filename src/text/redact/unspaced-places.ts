/** Addresses in Chinese, Japanese and Korean: a street or quarter, and the numbers behind it. */
import type { Reading } from './reading.ts';

const HANGUL = /^\p{Script=Hangul}/u;
const HAN_STREET = /(?:路|街|大道|道|巷|弄|胡同|里|村|小区|园|苑|段|丁目|町|市|区|番地|通|通り)$/u;
const HAN_HOUSE = /^(?:号楼|号|號|弄|栋|幢|单元|室|楼|层|丁目|番地|番|の|-)/u;
const ADMIN = /[\p{Script=Han}]{2,3}?(?:省|市|自治区|县|區|区|都|道|府|県)/u;
const HANGUL_STREET = /(?:로|길|동|읍|면|리|가)$/u;
const HANGUL_UNIT = /^(?:번지|호|동|층|길|번길|호로)/u;

/** A street, or the quarter of a Japanese town before its numbers: "北区梅田" before "1-2-3". */
function isHanStreet({ pieces }: Reading, place: number): boolean {
  const { text } = pieces[place]!;
  if (HAN_STREET.test(text)) return true;
  return (
    /(?:市|区|町|村|郡)/u.test(text) &&
    /^[-−]$/u.test(pieces[place + 2]?.text ?? '') &&
    pieces[place + 3]?.kind === 'number'
  );
}

/** "建国路88号", "桜木町3-15-8", "은행나무로 27길 14, 301호". */
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
    (korean && /(?:시|구|군|도)$/u.test(pieces[place - 1]?.text ?? '')) ||
    (korean && /(?:로|길)$/u.test(piece.text) && piece.text.length > 3);
  if (!surely) return;
  let from = piece.start;
  if (korean) {
    for (
      let at = place - 1;
      at >= 0 && at > place - 5 && /(?:시|구|군|도|동|읍|면|로|길)$/u.test(pieces[at]!.text);
      at -= 1
    )
      from = pieces[at]!.start;
  } else {
    const admin = ADMIN.exec(piece.text)?.index ?? -1;
    const cue = /(?:地址是|地址|住在|寄到|送到|住址|住所は|住所|配送先を|送付先は|お届け先は|は|を)/u.exec(
      piece.text,
    );
    from += Math.max(cue === null ? 0 : cue.index + cue[0].length, Math.min(admin, piece.text.length), 0);
  }
  spans.push({ start: Math.min(from, number.start), end, kind: 'address' });
}

export function findUnspacedPlaces(reading: Reading): void {
  if (!reading.unspaced || !reading.numbers) return;
  for (const [place, piece] of reading.pieces.entries())
    if (piece.kind === 'unspaced') findAddress(reading, place);
}
