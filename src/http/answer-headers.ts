/** Covered by test/http/app.test.ts. */
/** Whether a path is below /v1, where the key comes before anything else. */
export function isUnderV1(url: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(url);
}
