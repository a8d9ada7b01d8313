/** What the page and the service agree on about links to a view. Covered by test/web/links.test.ts. */

/** The views of the dashboard that a link may show: those that hold no text and no end user. */
export const SHARED_VIEWS = ['overview', 'changes', 'topic', 'cluster', 'gap', 'repeat', 'signal'] as const;
export type SharedView = (typeof SHARED_VIEWS)[number];

/** The page sends the token of a link in this header; in an address it stands behind `#`, which no server is sent. */
export const LINK_HEADER = 'x-undertone-link';
