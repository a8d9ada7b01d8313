/**
 * Wires the alerts of a worker: evaluation, outbox and delivery.
 *
 * Test: test/e2e/alerts-rules.test.ts.
 */
import type { Config } from '../config.ts';
import type { OpenShardAlerts } from '../domain/alerting.ts';
import { Alerter } from '../doors/alerts/alerter.ts';
import { figuresReader } from '../doors/alerts/figures.ts';
import { Outbox } from '../doors/alerts/outbox.ts';
import { createMail, isMail } from '../doors/alerts/mail.ts';
import { createPost, PostError, type Post } from '../doors/alerts/post.ts';
import { Rules } from '../doors/alerts/rules.ts';
import { Sender, type SenderCounters } from '../doors/alerts/sender.ts';
import type { EvaluationCounts } from '../doors/alerts/shard-evaluation.ts';
import type { Logger } from '../logger.ts';
import { openProjectFinder, openSettingsFinder } from '../web/registry/project-finder.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { SnapshotReader } from '../store/published/snapshot-reader.ts';
import { loadViews } from '../store/view-files.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { MessageTexts } from '../stream/log/message-texts.ts';
import { shardOf } from '../stream/subjects.ts';
import { VIEWS_DIRECTORY } from '../worker/current-definition.ts';
import { examples } from './examples.ts';

/** Memory of a reader for evaluation, which reads little and sequentially. */
const READER_BYTES = 64 * 2 ** 20;

export interface OpenAlerts {
  readonly openShard: OpenShardAlerts;
  readonly counters: Readonly<EvaluationCounts> & SenderCounters;
  readonly close: () => Promise<void>;
}

/** Opens what evaluates the alerts of this process's shards and sends their messages. */
export async function openAlerts(
  config: Pick<
    Config,
    'dataDir' | 'webhookAllowPrivate' | 'mail' | 'publicUrl' | 'streamReplicas' | 'queryMemoryBytes'
  >,
  connection: StreamConnection,
  logger: Logger,
): Promise<OpenAlerts> {
  const { dataDir, webhookAllowPrivate, mail, publicUrl, streamReplicas: replicas } = config;
  const rules = await Rules.open(connection, { replicas });
  const outbox = await Outbox.open(connection, { replicas });
  const known = rules.watch();
  const views = loadViews(VIEWS_DIRECTORY);
  const texts = new MessageTexts(() => connection);
  const projectOf = await openProjectFinder(connection, { replicas });
  const settingsOf = await openSettingsFinder(connection, { replicas });
  const sender: Sender = new Sender({
    outbox,
    rules,
    known,
    post: deliveryOf(createPost(webhookAllowPrivate), mail === null ? null : createMail(mail)),
    projectOf,
    guardOf: (instanceId) => alerter.guardOf(instanceId),
    logger,
    now: Date.now,
    chance: Math.random,
  });
  const alerter: Alerter = new Alerter({
    rules: known,
    outbox,
    sender,
    openReader: async ({ directory, shard }) => {
      const reader = await SnapshotReader.open({
        directory: () => directory,
        views,
        threads: 1,
        connections: 1,
        memoryBytes: READER_BYTES,
        memoryBytesAlone: Math.max(READER_BYTES, config.queryMemoryBytes),
        spillDirectory: spillDirectory(dataDir, `alerts-${shard}`),
      });
      return figuresReader(reader, { views, texts, examples });
    },
    projectOf,
    settingsOf,
    isOf: (instanceId, { shard, shards }) => shardOf(instanceId, shards) === shard,
    publicUrl,
    logger,
    now: Date.now,
  });
  return {
    openShard: (shard) => alerter.openShard(shard),
    get counters() {
      return { ...alerter.counters, ...sender.counters };
    },
    close: async () => {
      await sender.close();
      await known.close();
    },
  };
}

/** Posts to webhooks or by e-mail. `mail` is null if no mail server is set any more. */
function deliveryOf(post: Post, mail: Post | null): Post {
  return async (url, options) => {
    if (!isMail(url)) return post(url, options);
    if (mail === null) throw new PostError('no mail server is set (SMTP_URL)');
    return mail(url, options);
  };
}
