/**
 * `npm run erase`: erases a session, an end user, messages or a whole instance, and shows what was erased.
 *
 * Test: test/cli/erase.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { loadConfig, type Config } from '../config.ts';
import { backupsHolding, type HoldingBackup } from '../domain/backups.ts';
import type { ErasedKind, Erasure, ErasureReceipt } from '../domain/erasures.ts';
import { count } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { openAssemblyBuckets } from '../doors/traces/assembly/buckets.ts';
import { openedName, sessionOf } from '../doors/traces/assembly/emit.ts';
import { LONGEST_WAITS } from '../doors/traces/assembly/trace-buffer.ts';
import type { ConversationName } from '../doors/traces/assembly/records.ts';
import { findErasedTraces } from '../doors/traces/find-erased.ts';
import { forgetConversations } from '../doors/traces/forget-conversations.ts';
import { epochsBehind } from '../worker/erasure/due-erasures.ts';
import { findErased, NOTHING } from '../worker/erasure/erase-entries.ts';
import { placeErasure, runErasures } from '../worker/erasure/executor.ts';
import type { RebuildSettings } from '../worker/rebuild/rebuild.ts';
import { verifyErasure, type Verified, type VerifySettings } from '../worker/erasure/verify.ts';
import { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import type { Registry } from '../web/registry/registry.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { readActiveEpoch, shardDirectory } from '../store/epochs/epochs.ts';
import { lockDataDirectory, prepareDataDirectory } from '../store/data-directory.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { MOST_ERASED_MESSAGES } from '../web/ingest/erasure-body.ts';
import { erasuresIn, MOST_OF_REASON } from './erasures-file.ts';
import {
  action,
  DONE_ELSEWHERE,
  runCommand,
  UsageError,
  uuid,
  type CommandRun,
  type Work,
} from './command.ts';
import { onRegistry, withRegistry } from './nats-access.ts';
import { withReplaySettings } from './replay-settings.ts';
import { openErasedViews } from './erased-views.ts';
import { openGenerations } from '../cluster/place.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run erase -- session ID --instance UUID [--reason TEXT]
  npm run erase -- user EXTERNAL_ID --instance UUID [--reason TEXT]
  npm run erase -- messages POSITION,POSITION… --instance UUID [--reason TEXT]
  npm run erase -- everything --instance UUID [--reason TEXT]
  npm run erase -- run
  npm run erase -- list
  npm run erase -- verify ERASURE_ID
  npm run --silent erase -- ledger > FILE
  npm run erase -- again FILE

Forgets a session, an end user (the userId of their messages), single messages (their positions in transcripts) or
everything that was sent to an instance before: in the stream, in dead letters and in the views, which are made anew
without it. "run" goes on with what is open; a service that runs does so by itself. "verify" looks again whether anything
is left, and says where it looked and where it cannot. "ledger" prints all erasures, which name nobody; "again" does
those of such a file that the service does not know: after a backup from before was restored.`;

const LOOK_MS = 500;
/**
 * Equal to the worker's priority, which the replay has to catch up with: at a lower one it would not while both cores
 * are busy.
 */
const PRIORITY = 5;
/** `keyId` of erasures requested by this command. */
const KEY_ID = 'command';

const OF_TARGET = { instance: { type: 'string' }, reason: { type: 'string' } } as const;

function erasing(kind: ErasedKind, what: string): ReturnType<typeof action> {
  return action({
    options: OF_TARGET,
    operands: kind === 'INSTANCE' ? 0 : 1,
    read({ instance, reason = null }, [name]) {
      const instanceId = uuid('--instance', instance);
      if (kind !== 'INSTANCE' && (name === undefined || name === ''))
        throw new UsageError(`${what} is missing.`);
      if (kind === 'MESSAGES' && !/^[1-9]\d*(,[1-9]\d*)*$/.test(name!))
        throw new UsageError(
          'Positions are whole numbers with commas between them, as transcripts have them.',
        );
      if (kind === 'SESSION') uuid('ID', name);
      if (reason !== null && reason.length > MOST_OF_REASON)
        throw new UsageError(`--reason takes at most ${MOST_OF_REASON} characters.`);
      const positions = kind === 'MESSAGES' ? ascending(name!.split(',').map(Number)) : [];
      if (positions.length > MOST_ERASED_MESSAGES)
        throw new UsageError(`At most ${MOST_ERASED_MESSAGES} messages are erased at once.`);
      const named = nameOf(kind, { instanceId, name, positions });
      return async (run) => {
        let id = '';
        await onLedger(async ({ connection, registry, ledger }) => {
          const found = await registry.findInstance(instanceId);
          if (found === null) throw new SetupError(`There is no instance ${instanceId}.`);
          const erasure: Erasure = {
            id: v7(),
            projectId: found.projectId,
            instanceId,
            kind,
            digest: registry.erasureDigest(kind, instanceId, named),
            ...(positions.length === 0 ? {} : { positions }),
            keyId: KEY_ID,
            reason,
            requestedAt: new Date().toISOString(),
            doneAt: null,
            position: 0,
            state: 'ACCEPTED',
            receipt: null,
            fault: null,
          };
          const all = { ...erasure, position: Number.MAX_SAFE_INTEGER };
          const { entries, deadLetters } = await findErased(
            { connection, digest: registry.erasureDigest },
            all,
          );
          if (entries + deadLetters === 0)
            throw new SetupError('Nothing of it is there: nothing was erased.');
          await ledger.add(erasure);
          await placeErasure(connection, ledger, erasure);
          ({ id } = erasure);
        })(run);
        const code = await runOpen(run, id);
        return code === 0 ? show(id)(run) : code;
      };
    },
  });
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Returns the text whose digest names the erased target; the API route uses the same. */
function nameOf(
  kind: ErasedKind,
  {
    instanceId,
    name = '',
    positions,
  }: {
    readonly instanceId: string;
    readonly name: string | undefined;
    readonly positions: readonly number[];
  },
): string {
  if (kind === 'INSTANCE') return instanceId;
  if (kind === 'MESSAGES') return positions.join();
  return kind === 'SESSION' ? name.toLowerCase() : name;
}

const actions = {
  session: erasing('SESSION', 'ID'),
  user: erasing('END_USER', 'EXTERNAL_ID'),
  messages: erasing('MESSAGES', 'POSITION'),
  everything: erasing('INSTANCE', ''),
  run: action({ read: () => (run) => runOpen(run, null) }),
  list: action({
    read: () =>
      onLedger(async ({ ledger }) => {
        const rows = (await ledger.list()).map(({ id, kind, instanceId, state, requestedAt, doneAt }) => [
          id,
          kind,
          instanceId,
          state,
          requestedAt,
          doneAt ?? '',
        ]);
        process.stdout.write(tableOf(['ID', 'KIND', 'INSTANCE', 'STATE', 'REQUESTED', 'DONE'], rows));
      }),
  }),
  ledger: action({
    read: () =>
      onLedger(async ({ ledger }) => {
        for (const erasure of await ledger.list()) process.stdout.write(`${JSON.stringify(erasure)}\n`);
      }),
  }),
  again: action({
    operands: 1,
    read(_, [file]) {
      if (file === undefined) throw new UsageError('again needs a FILE that "ledger" wrote.');
      return async (run) => {
        const wanted = erasuresIn(file);
        let last: string | null = null;
        await onLedger(async ({ connection, ledger }) => {
          for (const erasure of wanted.toReversed()) {
            if ((await ledger.find(erasure.projectId, erasure.id)) !== null) continue;
            await ledger.add(erasure);
            await placeErasure(connection, ledger, erasure);
            last = erasure.id;
          }
        })(run);
        if (last !== null) return runOpen(run, last);
        process.stdout.write('the service knows all of them\n');
        return 0;
      };
    },
  }),
  verify: action({
    operands: 1,
    read(_, [id]) {
      if (id === undefined) throw new UsageError('verify needs an ERASURE_ID; list shows them.');
      return onLedger(async ({ connection, registry, ledger, config }) => {
        const erasure = await found(ledger, id);
        const options = { replicas: config.streamReplicas };
        const { erasureDigest: digest } = registry;
        const buckets = await openAssemblyBuckets(connection, options);
        const retentions = await Retentions.open(connection, options);
        const verified = await verifyErasure(
          {
            connection,
            digest,
            behind: behindOf(config, connection),
            withoutTexts: await retentions.withoutTexts(),
            findInTraces: (one, spoken) =>
              findErasedTraces({ connection, buckets, registry, digest }, one, spoken),
          },
          erasure,
        );
        process.stdout.write(verifiedText(verified));
        return verified.left.length === 0 ? 0 : 1;
      });
    },
  }),
};

/** Says which views are from before an erasure, of this machine or of those that share them. */
function behindOf(
  { dataDir, viewsStore, streamReplicas: replicas }: Config,
  connection: StreamConnection,
): VerifySettings['behind'] {
  if (viewsStore === null)
    return async (erasure) => {
      const older = epochsBehind(dataDir, [erasure]);
      return older.length === 0 ? [] : [`views from before it are there: ${older.join(', ')}`];
    };
  return async ({ instanceId, redactedAt, requestedAt }) => {
    const generations = await openGenerations(viewsStore, connection, replicas);
    const epoch = readActiveEpoch(dataDir)?.epoch ?? 0;
    const directoryOf = (shard: number): string => shardDirectory(dataDir, epoch, shard);
    return generations.behind(instanceId, Date.parse(redactedAt ?? requestedAt), directoryOf);
  };
}

interface Opened {
  readonly connection: StreamConnection;
  readonly registry: Registry;
  readonly ledger: ErasureLedger;
  readonly config: Config;
}

function onLedger(work: (opened: Opened) => Promise<number | void>): Work {
  return onRegistry(async (registry, { connection, config, replicas }) =>
    work({ connection, registry, config, ledger: await ErasureLedger.open(connection, replicas) }),
  );
}

/** Runs the open erasures. If a service already does, waits for the erasure `id`. */
async function runOpen(run: CommandRun, id: string | null): Promise<number> {
  const config = loadConfig();
  for (const concern of prepareDataDirectory(config.dataDir)) process.stderr.write(`${concern}\n`);
  const lock = await lockDataDirectory(config.dataDir, {
    name: 'rebuild',
    taken: `A rebuild or another erasure runs on the data directory ${config.dataDir}: what is open goes on after it.`,
  }).catch((error: unknown) => {
    if (id === null || !(error instanceof SetupError)) throw error;
    return null;
  });
  if (lock === null) return (await whenDone(id!)(run)) ?? 0;
  let isElsewhere = false;
  try {
    const options = { hint: 'npm run erase -- run', priority: PRIORITY };
    const code = await withReplaySettings(config, run, options, (settings) =>
      withRegistry(settings.connection, { replicas: config.streamReplicas }, async (registry) => {
        const done = await eraseOpen(registry, settings, config);
        isElsewhere = done === null;
        settings.progress.line(
          done === null
            ? 'another machine does what is open'
            : `${done.erasures.length} erasures and ${done.runs.length} runs of retention were done`,
        );
      }),
    );
    if (!isElsewhere) return code;
  } finally {
    lock.release();
  }
  if (id === null) return DONE_ELSEWHERE;
  await whenDone(id)(run);
  // The views of this machine were built before that.
  return runOpen(run, id);
}

/** Does the open erasures and runs of retention; null if another machine does. */
async function eraseOpen(
  registry: Registry,
  settings: RebuildSettings,
  config: Config,
): ReturnType<typeof runErasures> {
  const { streamReplicas, traceWaitMs } = config;
  const replicas = { replicas: streamReplicas };
  const { connection } = settings;
  const digest = registry.erasureDigest;
  const { conversations } = await openAssemblyBuckets(connection, replicas);
  const sessionOfName = (projectId: string, name: ConversationName): Promise<string> =>
    sessionOf(registry, openedName(registry, projectId, name));
  const forgetting = { ...settings, conversations, digest, sessionOf: sessionOfName };
  return runErasures({
    ...settings,
    ledger: await ErasureLedger.open(connection, replicas),
    digest,
    views: await openErasedViews(config, settings),
    retentions: await Retentions.open(connection, replicas),
    instances: () => registry.listInstances(),
    now: Date.now() * 1000,
    spansWaitMs: LONGEST_WAITS * traceWaitMs,
    forgetElsewhere: (...erased) => forgetConversations(forgetting, ...erased),
  });
}

/** Resolves once another process has done the erasure. */
function whenDone(id: string): Work {
  return onLedger(async ({ ledger }) => {
    process.stderr.write('The service erases it once it has ended what it is doing.\n');
    for (;;) {
      const { state, fault } = await found(ledger, id);
      if (state === 'DONE') return;
      if (state === 'FAILED')
        throw new SetupError(`Erasure ${id} failed, and is tried again: ${fault ?? ''}`);
      await sleep(LOOK_MS);
    }
  });
}

function verifiedText({ left, seen, unseen }: Verified): string {
  const lines = [
    ...(left.length === 0 ? ['nothing of it is left'] : left),
    ...seen.map((place) => `looked at: ${place}`),
    ...unseen.map((place) => `not looked at: ${place}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Describes the backups that contain the erased data. */
function heldBy(backups: readonly HoldingBackup[]): string {
  if (backups.length === 0) return 'No backup that is known holds it.';
  const each = backups.map(({ id, expiresAt }) =>
    expiresAt === null ? `${id} (never expires: delete it)` : `${id} (until ${expiresAt})`,
  );
  return `These backups still hold it: ${each.join(', ')}.`;
}

/** Prints the receipt. */
function show(id: string): Work {
  return onLedger(async ({ connection, ledger }) => {
    const erasure = await found(ledger, id);
    const { state, receipt } = erasure;
    const { messages, sessions, entries, bytes, deadLetters }: ErasureReceipt = receipt ?? NOTHING;
    process.stdout.write(
      `erasure ${id}: ${state}; ${count(messages)} messages, ${count(sessions)} whole sessions, from ` +
        `${count(entries)} entries (${count(bytes)} bytes), ${count(deadLetters)} dead letters. ` +
        `${heldBy(backupsHolding(erasure, await (await BackupLedger.open(connection)).list()))}\n`,
    );
    return state === 'DONE' ? 0 : 1;
  });
}

async function found(ledger: ErasureLedger, id: string): Promise<Erasure> {
  const erasure = (await ledger.list()).find((one) => one.id === id.toLowerCase());
  if (erasure === undefined)
    throw new SetupError(`There is no erasure ${id}. npm run erase -- list shows all.`);
  return erasure;
}

await runCommand({ usage: USAGE, actions });
