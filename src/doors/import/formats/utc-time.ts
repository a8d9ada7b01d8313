/**
 * Converts `2026-03-01 09:30:00.123`, which databases write for UTC, to an instant; returns other numbers and texts
 * unchanged.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
export function utcTime(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  const [, day, time] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?UTC)?$/.exec(value) ?? [];
  if (day === undefined || time === undefined) return zoned(value);
  return `${day}T${time.length === 5 ? `${time}:00` : time.slice(0, 15)}Z`;
}

/** Converts offsets such as `+00` to ISO form. */
function zoned(value: string): string {
  const [, day, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?([+-]\d{2}(?::?\d{2})?)$/.exec(value) ?? [];
  if (day === undefined || time === undefined || offset === undefined) return value;
  const digits = offset.replace(':', '');
  return `${day}T${time.slice(0, 15)}${digits.slice(0, 3)}:${digits.slice(3) || '00'}`;
}
