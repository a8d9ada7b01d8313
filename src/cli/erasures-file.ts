/**
 * Reads the file that `npm run erase -- ledger` writes.
 *
 * Test: test/cli/erase.test.ts.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ERASED_KINDS, type Erasure } from '../domain/erasures.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { SetupError } from '../errors.ts';
import { MOST_ERASED_MESSAGES } from '../web/ingest/erasure-body.ts';

/** Longest reason, UTF-16 units. */
export const MOST_OF_REASON = 500;

/** Reads the erasures of a file as new ones, newest first. Throws SetupError. */
export function erasuresIn(file: string): Erasure[] {
  const fault = (line: number, what: string): SetupError => new SetupError(`${file}, line ${line}: ${what}.`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SetupError(`${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const parsed = ERASURE_LINE.safeParse(jsonOf(line));
    if (!parsed.success) throw fault(at + 1, 'this is no erasure of "npm run erase -- ledger"');
    return [parsed.data];
  });
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

const uuid = z.string().regex(UUID_PATTERN);
/** Schema of a line. The state of the erasure is not read: it belongs to another stream. */
const ERASURE_LINE = z
  .object({
    id: uuid,
    projectId: uuid,
    instanceId: uuid,
    kind: z.enum(ERASED_KINDS),
    digest: z.string().min(1).max(100),
    positions: z.array(z.int().min(1)).max(MOST_ERASED_MESSAGES).optional(),
    requestedAt: z.iso.datetime(),
    sentBefore: z.iso.datetime().optional(),
    keyId: z.string(),
    reason: z.string().max(MOST_OF_REASON).nullable(),
  })
  .transform(({ positions, sentBefore, requestedAt: askedAt, ...line }): Erasure => {
    const { id, projectId, instanceId, kind, digest, keyId, reason } = line;
    const requestedAt = new Date().toISOString();
    const where = positions === undefined ? {} : { positions, sentBefore: sentBefore ?? askedAt };
    const asked = { id, projectId, instanceId, kind, digest, ...where, keyId, reason, requestedAt };
    return { ...asked, doneAt: null, position: 0, state: 'ACCEPTED', receipt: null, fault: null };
  });
