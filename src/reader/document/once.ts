/**
 * Returns a function that calls `make` at its first call and keeps the result, for values that many processes never
 * need.
 *
 * Test: test/reader/document/once.test.ts.
 */
export function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | null = null;
  return () => (made ??= { value: make() }).value;
}
