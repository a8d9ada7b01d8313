/**
 * Attributes: the members of a session's metadata by which queries tell sessions apart. A member is one while its value
 * is short text, a number or a boolean; what was sent last counts.
 *
 * Test: test/domain/attributes.test.ts, test/view-laws.test.ts.
 */

/** Limits of an attribute's name and value, in UTF-16 units. */
export const LONGEST_ATTRIBUTE_NAME = 100;
export const LONGEST_ATTRIBUTE_VALUE = 200;

/** A choice of sessions: those whose attribute has one of the values. */
export interface SegmentChoice {
  readonly name: string;
  /** At least one. */
  readonly values: readonly string[];
}

/** The external id has a column of its own, and differs in each session. The other name is none of an object's members. */
const NO_NAMES: ReadonlySet<string> = new Set(['externalId', '__proto__']);

/** Returns true for the name of an attribute. */
export function isAttributeName(name: string): boolean {
  return !NO_NAMES.has(name) && isPlain(name, LONGEST_ATTRIBUTE_NAME);
}

/** Returns the value of an attribute as text, or null for a value that is none. */
export function attributeValue(value: unknown): string | null {
  switch (typeof value) {
    case 'string': {
      const text = valueAsAsked(value);
      return isPlain(text, LONGEST_ATTRIBUTE_VALUE) ? text : null;
    }
    case 'number':
    case 'boolean':
      return JSON.stringify(value);
    default:
      return null;
  }
}

/** Returns a value in the form in which values are compared. */
export function valueAsAsked(value: string): string {
  return value.normalize('NFC').trim();
}

function isPlain(text: string, longest: number): boolean {
  return text !== '' && text.length <= longest && text.isWellFormed() && !/\p{Cc}/u.test(text);
}
