/**
 * The views that a link can share, and the header with the link's token.
 *
 * Test: test/web/links.test.ts.
 */

/** Views of the dashboard without texts and end users. */
export const SHARED_VIEWS = [
  'overview',
  'changes',
  'topic',
  'cluster',
  'gap',
  'repeat',
  'signal',
  'label',
] as const;
export type SharedView = (typeof SHARED_VIEWS)[number];

/** The page sends a link's token in this header. In an address the token follows `#`, so no server receives it. */
export const LINK_HEADER = 'x-undertone-link';
