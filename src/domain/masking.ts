/** What is masked of an instance's requests before they are stored. It has types only, and no test of its own. */

/** How ids of end users are stored: as they are sent, or as a keyed digest, the same for the same id of an instance. */
export const USER_ID_FORMS = ['asSent', 'digest'] as const;
export type UserIdForm = (typeof USER_ID_FORMS)[number];

export interface Masking {
  /** Personal values in contents and metadata are replaced by placeholders. */
  readonly texts: boolean;
  readonly userIds: UserIdForm;
}

/** Of an instance of which nobody has said anything. */
export const NO_MASKING: Masking = { texts: false, userIds: 'asSent' };
