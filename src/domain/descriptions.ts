/**
 * Descriptions of gaps and repeated requests.
 *
 * Test: test/reader/conversations/gap-and-repeat-groups.test.ts.
 */

/** `example`: the request in the user's words; '' once it is erased or expired. */
export function gapDescription(type: 'KNOWLEDGE' | 'TOOL', example: string): string {
  const lack = type === 'TOOL' ? 'cannot do what was asked' : 'lacks the information that was asked for';
  return example === '' ? `The assistant ${lack}.` : `The assistant ${lack}: “${example}”`;
}

/** `example`: as in `gapDescription`. */
export function repeatDescription(example: string): string {
  return `Asked again in the same conversation${example === '' ? '.' : `: “${example}”`}`;
}

/** Names an entity whose texts are all erased or expired. `number`: its own number in its instance. */
export function forgottenName(number: number): string {
  return `Forgotten ${number + 1}`;
}
