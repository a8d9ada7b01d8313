/**
 * All routes that need a key, in the order of the OpenAPI document.
 *
 * Test: test/web/docs.test.ts.
 */
import { CREATE_ALERT, DELETE_ALERT, DIGEST, LIST_ALERTS, READ_ALERT, TEST_ALERT } from './alerts.ts';
import { READ_AUDIT } from './audit.ts';
import { CREATE_ERASURE, LIST_ERASURES, READ_ERASURE } from './erasures.ts';
import { EXPORTS, INGEST, INGEST_BATCH } from './ingest.ts';
import {
  CREATE_INSTANCE,
  ISSUE_SESSION_IDS,
  LIST_INSTANCES,
  READ_KEY,
  CHANGE_INSTANCE,
} from './instances.ts';
import { GIVE_FEEDBACK } from './feedback.ts';
import { CREATE_LINK, LIST_LINKS, READ_LINK, REVOKE_LINK } from './links.ts';
import { READ_MASKING, SET_MASKING } from './masking.ts';
import {
  ATTRIBUTES,
  CHANGES,
  DIFFERENCES,
  BRIEF,
  DRAFT,
  EFFECTS,
  SEARCH_TEXTS,
  OVERVIEW,
  QUERY,
  READ_SESSION,
  WHY,
} from './query.ts';
import {
  READ_PROJECT_RETENTION,
  READ_RETENTION,
  RESET_RETENTION,
  SET_PROJECT_RETENTION,
  SET_RETENTION,
} from './retention.ts';
import type { Route } from './route.ts';
import { CHECK, CHECKS, CREATE_TOPIC, CURATE, CURATIONS, SAVE_LABEL } from './steering.ts';
import { EXPORT_SUBJECT } from './subjects.ts';

/** Routes of processes that accept messages, of those that read the views, and of all. */
export const ROUTES: Readonly<Record<'ingest' | 'query' | 'always', readonly Route[]>> = {
  ingest: [INGEST, INGEST_BATCH, GIVE_FEEDBACK, EXPORTS.traces, EXPORTS.logs],
  query: [
    QUERY,
    SEARCH_TEXTS,
    READ_SESSION,
    ...WHY.map(({ route }) => route),
    CHANGES,
    OVERVIEW,
    ATTRIBUTES,
    DIFFERENCES,
    EFFECTS,
    BRIEF,
    DRAFT,
    DIGEST,
    CURATIONS,
    CURATE,
    CREATE_TOPIC,
    SAVE_LABEL,
    CHECKS,
    CHECK,
    LIST_ALERTS,
    CREATE_ALERT,
    READ_ALERT,
    DELETE_ALERT,
    TEST_ALERT,
    LIST_LINKS,
    CREATE_LINK,
    REVOKE_LINK,
    READ_LINK,
    CREATE_ERASURE,
    LIST_ERASURES,
    READ_ERASURE,
    EXPORT_SUBJECT,
    READ_RETENTION,
    SET_RETENTION,
    RESET_RETENTION,
    READ_PROJECT_RETENTION,
    SET_PROJECT_RETENTION,
  ],
  always: [
    LIST_INSTANCES,
    CREATE_INSTANCE,
    CHANGE_INSTANCE,
    READ_MASKING,
    SET_MASKING,
    ISSUE_SESSION_IDS,
    READ_KEY,
    READ_AUDIT,
  ],
};
