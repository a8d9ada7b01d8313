/**
 * Wires the optional writer with its model and publisher.
 *
 * Test: test/doors/writer/service.test.ts.
 */
import type { WriterConfig } from '../config.ts';
import { findLocalFolder } from '../reader/embedding/local-folder.ts';
import type { Logger } from '../logger.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { createPublisher } from '../stream/log/group-commit.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';
import { ChatEndpoint } from '../doors/writer/chat-endpoint.ts';
import { LocalModel } from '../doors/writer/local-model.ts';
import { Writer } from '../doors/writer/writer.ts';

/** Opens the writer of names and summaries. */
export function openWriter(
  settings: WriterConfig,
  connection: StreamConnection,
  logger: Logger,
): { readonly writer: Writer; readonly close: () => Promise<void> } {
  const { source, timeoutMs } = settings;
  const model =
    'url' in source
      ? new ChatEndpoint({ ...source, timeoutMs })
      : new LocalModel({
          folder: findLocalFolder(
            { setting: 'WRITER_MODEL', model: source.folder, task: 'text-generation' },
            MODELS_DIRECTORY,
          ),
          timeoutMs,
        });
  const publisher = createPublisher(connection);
  const writer = new Writer({
    ...settings,
    model,
    publish: (request) => publisher.publish(request),
    logger,
  });
  return {
    writer,
    async close() {
      await writer.close();
      await model.close();
      await publisher.drain();
    },
  };
}
