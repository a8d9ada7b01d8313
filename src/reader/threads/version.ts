/**
 * Version of assign. Raise it whenever equal enrichments get other topics, names or numbers; the views then need a
 * rebuild.
 *
 * Test: test/reader/threads/determinism.test.ts.
 */
export const ASSIGNMENT_VERSION = 47;
