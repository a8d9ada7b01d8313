/** `2026-03-01 09:30:00.123`, which databases write for UTC, as an instant; any other value as it is. */
export function utcTime(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  const [, day, time] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?UTC)?$/.exec(value) ?? [];
  if (day === undefined || time === undefined) return zoned(value);
  return `${day}T${time.length === 5 ? `${time}:00` : time.slice(0, 15)}Z`;
}

/** `2026-03-01 09:30:00+00` has an offset that is no ISO one. */
function zoned(value: string): string {
  const [, day, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?([+-]\d{2}(?::?\d{2})?)$/.exec(value) ?? [];
  if (day === undefined || time === undefined || offset === undefined) return value;
  const digits = offset.replace(':', '');
  return `${day}T${time.slice(0, 15)}${digits.slice(0, 3)}:${digits.slice(3) || '00'}`;
}

/** Day, month and year with dots are in this order everywhere; year, month and day are with slashes, too. */
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
const YEAR_FIRST = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/**
 * A date as spreadsheets write it (`1.11.2026 9:30`, `2026/11/1 9:30`) as an instant, taken for UTC; any other value as
 * it is. `11/1/2026` stays: which number is the month depends on the country.
 */
export function spreadsheetTime(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const [, day, month, year, ...clock] = DOTTED.exec(text) ?? [];
  if (day !== undefined) return instantOf([year, month, day], clock);
  const [, first, second, third, ...time] = YEAR_FIRST.exec(text) ?? [];
  return first === undefined ? value : instantOf([first, second, third], time);
}

function instantOf(date: readonly (string | undefined)[], clock: readonly (string | undefined)[]): string {
  const two = (text = '0'): string => text.padStart(2, '0');
  const [hour, minute, second] = clock;
  return `${date.map((part) => two(part)).join('-')}T${two(hour)}:${two(minute)}:${two(second)}Z`;
}
