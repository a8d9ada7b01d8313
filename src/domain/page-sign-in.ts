/**
 * The path and header of dashboard sign-ins, shared by the page and the service.
 *
 * Test: test/web/page/sign-in.test.ts.
 */

/** POST signs in, DELETE signs out. */
export const SIGN_IN_PATH = '/dashboard/session';
/** The page sends this header; a form, a link or an image of another site cannot. */
export const PAGE_HEADER = 'x-undertone-page';
