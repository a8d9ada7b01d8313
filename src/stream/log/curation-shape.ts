/**
 * Validates the shape of a curation in a record.
 *
 * Test: test/stream/log/codec.test.ts.
 */
import { CHECKED, VERDICTS } from '../../domain/checks.ts';
import {
  CORRECTED_ENTITIES,
  CURATED_ENTITIES,
  LONGEST_CORRECTED,
  MOST_EXAMPLES,
  UNCLAIMED,
  type CurationAction,
} from '../../domain/curations.ts';
import {
  isWebLink,
  LIFE_STATES,
  LONGEST_LINK,
  LONGEST_NOTE,
  LONGEST_OWNER,
  TRACKED_ENTITIES,
} from '../../domain/lives.ts';
import { SESSION_OUTCOMES } from '../../domain/session-outcomes.ts';

/** Longest text of a curation, UTF-16 units. */
const MAX_TEXT_LENGTH = 1000;

type Members = Readonly<Record<string, unknown>>;

const CHECKS: Readonly<Record<CurationAction['kind'], (action: Members) => boolean>> = {
  RENAME: ({ entity, name }) => isEntity(entity) && isText(name),
  PIN: ({ entity }) => isEntity(entity),
  MERGE: ({ into }) => isText(into),
  MOVE: ({ cluster, clusterName }) => isText(cluster) && (clusterName === undefined || isText(clusterName)),
  HIDE: () => true,
  CREATE: ({ name, description, examples, fromBeginning, from }) =>
    isText(name) &&
    isText(description) &&
    isQuotes(examples) &&
    typeof fromBeginning === 'boolean' &&
    (from === undefined || isText(from)),
  LABEL: ({ name, description, examples, counterexamples }) =>
    isText(name) && isText(description) && isQuotes(examples) && isQuotes(counterexamples),
  ASSIGN: (action) =>
    action['of'] === 'OUTCOME' ? isOneOf(SESSION_OUTCOMES, action['outcome']) : isCorrection(action),
  EXCLUDE: isCorrection,
  CHECK: ({ of, session, verdict, reader = '' }) =>
    isOneOf(CHECKED, of) && isText(session) && isOneOf(VERDICTS, verdict) && isText(reader),
  ROUTE: ({ unclaimed }) => isOneOf(UNCLAIMED, unclaimed),
  TRACK: ({ of, state, fixedAt, release, owner = '', note = '', link }) =>
    isOneOf(TRACKED_ENTITIES, of) &&
    isOneOf(LIFE_STATES, state) &&
    (fixedAt === undefined || Number.isSafeInteger(fixedAt)) &&
    (release === undefined || (isMembers(release) && isText(release['name']) && isText(release['value']))) &&
    isText(owner, LONGEST_OWNER) &&
    isText(note, LONGEST_NOTE) &&
    (link === undefined || (typeof link === 'string' && link.length <= LONGEST_LINK && isWebLink(link))),
  UNDO: () => true,
};

export function isCuration(value: unknown): boolean {
  if (!isMembers(value) || !isText(value['id']) || !isText(value['keyId'])) return false;
  const { action, messages = 0 } = value;
  if (!Number.isSafeInteger(messages) || !isMembers(action) || !isText(action['id'])) return false;
  const { kind } = action;
  return typeof kind === 'string' && Object.hasOwn(CHECKS, kind)
    ? CHECKS[kind as CurationAction['kind']](action)
    : false;
}

function isCorrection({ of, text, position }: Members): boolean {
  return of === 'TOPIC'
    ? isText(text, LONGEST_CORRECTED)
    : isOneOf(CORRECTED_ENTITIES, of) && Number.isSafeInteger(position) && (position as number) >= 0;
}

function isQuotes(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MOST_EXAMPLES && value.every((text) => isText(text));
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, longest = MAX_TEXT_LENGTH): boolean {
  return typeof value === 'string' && value.length <= longest;
}

function isEntity(value: unknown): boolean {
  return isOneOf(CURATED_ENTITIES, value);
}

function isOneOf(list: readonly unknown[], value: unknown): boolean {
  return list.includes(value);
}
