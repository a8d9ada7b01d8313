/** Where chats without ends are cut into conversations. */

/** Nobody says anything for so long: the next message begins another conversation. Half a day, in milliseconds. */
export const PAUSE_MS = 12 * 3600 * 1000;
