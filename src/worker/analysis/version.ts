/** Raised whenever the same enrichments get other topics, names or numbers than before: views then ask for a rebuild. */
export const ASSIGNMENT_VERSION = 10;
