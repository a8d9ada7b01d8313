/**
 * Attributes: the members of a session's metadata by which queries tell sessions apart. A member is one while its value
 * is short text, a number or a boolean; what was sent last counts.
 *
 * Test: test/domain/attributes.test.ts, test/view-laws.test.ts.
 */

/** Limits of an attribute's name and value, in UTF-16 units. */
export const LONGEST_ATTRIBUTE_NAME = 100;
export const LONGEST_ATTRIBUTE_VALUE = 200;

/** Limits of the choices of a query; what it leaves out counts apart, because the instance may add to it. */
export const MOST_CHOICES = 8;
export const MOST_LEFT_OUT_BY_INSTANCE = 4;
export const MOST_LEFT_OUT = MOST_CHOICES + MOST_LEFT_OUT_BY_INSTANCE;
/** Limit of the values of one choice. */
export const MOST_VALUES = 50;

/** A choice of sessions: those whose attribute has one of the values, or those whose attribute has none of them. */
export interface SegmentChoice {
  readonly name: string;
  /** At least one. */
  readonly values: readonly string[];
  /** Sessions with one of the values are left out; those without the attribute stay. */
  readonly isLeftOut?: true;
}

/** What an instance leaves out: values by the name of their attribute. */
export type LeftOut = Readonly<Record<string, readonly string[]>>;

/** What stands after an attribute's name where values are left out: `environment!=test`. */
const NOT = '!';

/** Returns true for a name with the mark of what is left out. */
export function isLeftOutName(name: string): boolean {
  return name.endsWith(NOT);
}

/** Returns the choice that a name means, with or without its mark. */
export function choiceOf(name: string, values: readonly string[]): SegmentChoice {
  return isLeftOutName(name) ? { name: name.slice(0, -1), values, isLeftOut: true } : { name, values };
}

/** Returns the name that means the choice, with its mark. */
export function nameOfChoice({ name, isLeftOut }: Omit<SegmentChoice, 'values'>): string {
  return isLeftOut === true ? name + NOT : name;
}

/** The external id has a column of its own, and differs in each session. The other name is none of an object's members. */
const NO_NAMES: ReadonlySet<string> = new Set(['externalId', '__proto__']);

/**
 * Words choices: `with plan ‘pro’ or ‘team’ and version ‘3.2’ and without environment ‘test’`. `show` makes a name or value
 * fit to be shown.
 */
export function choiceWords(
  choices: readonly SegmentChoice[],
  show: (text: string) => string,
  [open, close]: readonly [string, string] = ['‘', '’'],
): string {
  return [false, true]
    .flatMap((isLeftOut) => {
      const words = choices
        .filter((choice) => (choice.isLeftOut === true) === isLeftOut)
        .map(
          ({ name, values }) =>
            `${show(name)} ${values.map((value) => open + show(value) + close).join(' or ')}`,
        );
      return words.length === 0 ? [] : [`${isLeftOut ? 'without' : 'with'} ${words.join(' and ')}`];
    })
    .join(' and ');
}

/** Returns true for the name of an attribute, with or without the mark of what is left out. */
export function isChoiceName(name: string): boolean {
  return isAttributeName(choiceOf(name, []).name);
}

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
