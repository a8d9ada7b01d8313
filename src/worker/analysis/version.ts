/** Raised whenever the same findings get other topics, names or numbers than before: views then ask for a rebuild. */
export const ASSIGNMENT_VERSION = 5;
