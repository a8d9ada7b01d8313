/**
 * An instance's masking of requests before they are stored.
 *
 * Test: test/web/masking-routes.test.ts, test/web/ingest/masker.test.ts.
 */

/** Storage of end-user ids: as sent, or as a keyed digest that is equal for equal ids of an instance. */
export const USER_ID_FORMS = ['asSent', 'digest'] as const;
export type UserIdForm = (typeof USER_ID_FORMS)[number];

export interface Masking {
  /** Replaces personal values in contents and metadata by placeholders. */
  readonly texts: boolean;
  readonly userIds: UserIdForm;
}

/** Default of an instance. */
export const NO_MASKING: Masking = { texts: false, userIds: 'asSent' };
