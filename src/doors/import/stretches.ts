/**
 * Pause that separates two conversations in chats without marked ends.
 *
 * Test: test/doors/import/formats/slack.test.ts.
 */

/** The next message after 12 hours starts another conversation, milliseconds. */
export const PAUSE_MS = 12 * 3600 * 1000;
