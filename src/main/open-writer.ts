/**
 * Wires the optional writer with its model and publisher, the second reader of checks that asks the same model, and what
 * drafts for people who ask.
 *
 * Test: test/doors/writer/service.test.ts, test/doors/writer/second-reader.test.ts, test/e2e/draft-rules.test.ts.
 */
import type { Config, WriterConfig } from '../config.ts';
import type { OpenShardWriter } from '../domain/writings.ts';
import { ChatEndpoint, type TextModel } from '../doors/writer/chat-endpoint.ts';
import { Drafter } from '../doors/writer/drafter.ts';
import { inTurn } from '../doors/writer/in-turn.ts';
import { LocalModel } from '../doors/writer/local-model.ts';
import { SecondReader, type SecondReaderCounters } from '../doors/writer/second-reader.ts';
import { Writer, type WriterCounters } from '../doors/writer/writer.ts';
import type { Logger } from '../logger.ts';
import { SecondReadings } from '../query/checks/second-readings.ts';
import { findLocalFolder } from '../reader/embedding/local-folder.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { SnapshotReader } from '../store/published/snapshot-reader.ts';
import { loadViews } from '../store/view-files.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { createPublisher } from '../stream/log/group-commit.ts';
import { MessageTexts } from '../stream/log/message-texts.ts';
import { openProjectFinder, openSettingsFinder } from '../web/registry/project-finder.ts';
import { MODELS_DIRECTORY, VIEWS_DIRECTORY } from '../worker/current-definition.ts';

/** Memory of a reader of the second reader, which draws sessions one entity at a time. */
const READER_BYTES = 64 * 2 ** 20;
/** Most tokens of a draft: more than its words take in any language, with room for models that think aloud. */
const DRAFT_TOKENS = 3000;

export interface OpenWriter {
  readonly openShard: OpenShardWriter;
  readonly counters: WriterCounters & Pick<SecondReaderCounters, 'judged'>;
  readonly close: () => Promise<void>;
}

interface WriterParts {
  readonly config: Pick<Config, 'dataDir' | 'queryMemoryBytes' | 'streamReplicas'>;
  readonly connection: StreamConnection;
  readonly logger: Logger;
}

/** Opens the writer of names and summaries and, if it may judge sessions, the second reader. */
export async function openWriter(settings: WriterConfig, parts: WriterParts): Promise<OpenWriter> {
  const { connection, logger } = parts;
  const model = inTurn(modelOf(settings));
  const publisher = createPublisher(connection);
  const options = {
    model,
    publish: (request: Parameters<typeof publisher.publish>[0]) => publisher.publish(request),
    logger,
  };
  const writer = new Writer({ ...settings, ...options });
  const { checksPerHour } = settings;
  const projectOf =
    checksPerHour === 0
      ? null
      : await openProjectFinder(connection, { replicas: parts.config.streamReplicas });
  const second = projectOf === null ? null : new SecondReader({ ...options, projectOf, checksPerHour });
  return {
    openShard: ({ shard, directory, guard }) => {
      const names = writer.openShard(guard);
      const judged = second?.openShard({ guard, open: () => openReadings(directory, shard, parts) });
      return {
        committed: (...reports) => names.committed(...reports),
        close: async () => {
          await Promise.all([names.close(), judged?.close()]);
        },
      };
    },
    get counters() {
      const [own, more] = [writer.counters, second?.counters];
      return {
        ...own,
        judged: more?.judged ?? 0,
        rejected: own.rejected + (more?.rejected ?? 0),
        failed: own.failed + (more?.failed ?? 0),
        timedOut: own.timedOut + (more?.timedOut ?? 0),
      };
    },
    async close() {
      await Promise.all([writer.close(), second?.close()]);
      await model.close();
      await publisher.drain();
    },
  };
}

/** Opens what drafts in web, with a budget of calls of its own. */
export function openDrafter(settings: WriterConfig, logger: Logger): Drafter {
  const model = inTurn(modelOf(settings, DRAFT_TOKENS));
  return new Drafter({ model, callsPerHour: settings.callsPerHour, logger });
}

/** `mostTokens` of an answer; undefined: those of a summary. */
function modelOf({ source, timeoutMs }: WriterConfig, mostTokens?: number): TextModel {
  const limits = { timeoutMs, ...(mostTokens === undefined ? {} : { mostTokens }) };
  if ('url' in source) return new ChatEndpoint({ ...source, ...limits });
  const named = { setting: 'WRITER_MODEL', model: source.folder, task: 'text-generation' } as const;
  return new LocalModel({ folder: findLocalFolder(named, MODELS_DIRECTORY), ...limits });
}

async function openReadings(
  directory: string,
  shard: number,
  { config, connection }: WriterParts,
): Promise<SecondReadings> {
  const settingsOf = await openSettingsFinder(connection, { replicas: config.streamReplicas });
  const reader = await SnapshotReader.open({
    directory: () => directory,
    views: loadViews(VIEWS_DIRECTORY),
    threads: 1,
    connections: 1,
    memoryBytes: READER_BYTES,
    memoryBytesAlone: Math.max(READER_BYTES, config.queryMemoryBytes),
    spillDirectory: spillDirectory(config.dataDir, `second-reader-${shard}`),
  });
  return new SecondReadings(
    reader,
    new MessageTexts(() => connection),
    async (instanceId) => (await settingsOf(instanceId))?.leaveOut ?? {},
  );
}
