/** What gaps and repeated requests are described by. Covered by test/reader/threads/assigner.test.ts. */

/** `example`: what was asked for, as it was said; '' when nobody knows any more. */
export function gapDescription(type: 'KNOWLEDGE' | 'TOOL', example: string): string {
  const lack = type === 'TOOL' ? 'cannot do what was asked' : 'lacks the information that was asked for';
  return example === '' ? `The assistant ${lack}.` : `The assistant ${lack}: “${example}”`;
}

/** `example`: as above. */
export function repeatDescription(example: string): string {
  return `Asked again in the same conversation${example === '' ? '.' : `: “${example}”`}`;
}

/** The name of what nothing is left of that it could be named after. `number`: its own, in its instance. */
export function forgottenName(number: number): string {
  return `Forgotten ${number + 1}`;
}
