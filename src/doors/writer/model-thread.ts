/**
 * The thread of `LocalModel`: answers one call after the other.
 *
 * Test: test/doors/writer/local-model.test.ts.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openGenerator } from '../../reader/embedding/text-generator.ts';
import type { ChatMessage } from './chat-endpoint.ts';

export interface ThreadData {
  readonly folder: string;
  readonly mostTokens: number | undefined;
}

/** `loaded` comes first and once. Errors contain no texts. */
export type ThreadMessage =
  | { readonly loaded: true }
  | { readonly text: string }
  | { readonly error: 'loading' | 'generating' };

const port = parentPort;
if (port === null) throw new Error('this is no thread');
const tell = (message: ThreadMessage): void => port.postMessage(message);

try {
  const { folder, mostTokens } = workerData as ThreadData;
  const generator = await openGenerator(folder, mostTokens);
  port.on('message', (messages: readonly ChatMessage[]) => {
    generator.generate(messages).then(
      (text) => tell({ text }),
      () => tell({ error: 'generating' }),
    );
  });
  tell({ loaded: true });
} catch {
  tell({ error: 'loading' });
}
