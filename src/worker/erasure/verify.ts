/**
 * Verifies that nothing of an erasure remains. Changes nothing.
 *
 * Test: test/cli/erase.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import { count } from '../../domain/progress.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { readExtent } from '../../stream/log/consumer.ts';
import { partitionOf } from '../../stream/subjects.ts';
import { eachEntry, findErased } from './erase-entries.ts';

/** Sentences, for people. */
export interface Verified {
  /** What is left; empty when nothing was found. */
  readonly left: readonly string[];
  /** Places that were looked at. */
  readonly seen: readonly string[];
  /** Places that were not, and why. */
  readonly unseen: readonly string[];
}

export interface VerifySettings {
  readonly connection: StreamConnection;
  readonly digest: ErasureDigest;
  /** Sentences about views that are from before an erasure. */
  readonly behind: (erasure: Erasure) => Promise<string[]>;
  /** Instances of which retention took texts. */
  readonly withoutTexts: ReadonlySet<string>;
  /** Looks at what spans become conversations from. */
  readonly findInTraces: (
    erasure: Erasure,
    spoken: () => Promise<ReadonlySet<string> | null>,
  ) => Promise<Pick<Verified, 'left' | 'unseen'>>;
}

const SEEN = [
  'the stream of conversations, dead letters and the views of this machine',
  'the bucket "conversations" and spans that wait in the stream of traces',
];
const UNSEEN = [
  'bytes of replaced values in the files of the server, until it compacts them',
  'backups, exports, files of the sink and views of other machines',
];

/** Looks again at every place that the erasure reaches. */
export async function verifyErasure(settings: VerifySettings, erasure: Erasure): Promise<Verified> {
  const { messages, entries, deadLetters } = await findErased(settings, erasure);
  const older = await settings.behind(erasure);
  const traces = await settings.findInTraces(erasure, () => spokenSessions(settings, erasure));
  return {
    left: [
      ...(erasure.state === 'DONE' ? [] : [`it is not done: ${erasure.state}`]),
      ...(entries === 0
        ? []
        : [`the stream holds ${count(messages)} messages of it in ${count(entries)} entries`]),
      ...(deadLetters === 0 ? [] : [`${count(deadLetters)} dead letters hold something of it`]),
      ...older,
      ...traces.left,
    ],
    seen: erasure.kind === 'MESSAGES' ? SEEN.slice(0, 1) : SEEN,
    unseen: [...traces.unseen, ...UNSEEN],
  };
}

/**
 * The sessions of the instance of which the stream holds a message that was said before the erasure; null if the stream
 * has lost messages otherwise.
 */
async function spokenSessions(
  { connection, withoutTexts }: VerifySettings,
  erasure: Erasure,
): Promise<ReadonlySet<string> | null> {
  const { instanceId } = erasure;
  const { firstSequence, lastSequence } = await readExtent(connection);
  if (firstSequence > 1 || withoutTexts.has(instanceId)) return null;
  const before = Date.parse(erasure.requestedAt) * 1000;
  const sessions = new Set<string>();
  const settings = { connection, signal: new AbortController().signal };
  await eachEntry(settings, partitionOf(instanceId), lastSequence, (_, { requests }) => {
    for (const request of requests) {
      if (request.instanceId.toLowerCase() !== instanceId) continue;
      const isSpoken = request.messages.some(({ erased, at }) => erased !== true && at < before);
      if (isSpoken) sessions.add(request.sessionId);
    }
  });
  return sessions;
}
