/** What the page and the service agree on about sign-ins. Covered by test/web/page/sign-in.test.ts. */

/** POST opens a sign-in, DELETE ends it. */
export const SIGN_IN_PATH = '/dashboard/session';
/** The page sends this header, which a form, a link or an image of another site cannot. */
export const PAGE_HEADER = 'x-undertone-page';
