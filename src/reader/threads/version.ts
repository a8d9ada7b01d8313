/**
 * Version of assign. Raise it whenever equal enrichments get other topics, names or numbers; the views then need a
 * rebuild.
 *
 * It is part of the definition in `worker/current-definition.ts`. No test notices a missing raise.
 */
export const ASSIGNMENT_VERSION = 52;
