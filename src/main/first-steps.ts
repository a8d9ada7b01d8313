/**
 * The first steps of a new installation: its first key, shown once, and example commands.
 *
 * Test: test/main/first-steps.test.ts.
 */
import { join } from 'node:path';
import { DEFAULT_INSTANCE_NAME } from '../domain/limits.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { FIRST_PROJECT_NAME } from '../web/registry/registry.ts';
import type { Registry } from '../web/registry/registry.ts';
import { replaceFile } from '../store/epochs/epochs.ts';

/** Facts of a first start. */
export interface FirstSteps {
  readonly url: string;
  /** The raw key. It is stored nowhere: the registry keeps a digest. */
  readonly key: string;
  /** The default instance; null if the registry became unavailable before it was created. */
  readonly instanceId: string | null;
}

/** Messages from `web` to `npm start` over their IPC channel. */
export type StarterMessage =
  | { readonly type: 'listening'; readonly url: string }
  | ({ readonly type: 'first-steps' } & FirstSteps);

/** Returns false if the process was not started by `npm start`. */
export function tellStarter(message: StarterMessage): boolean {
  if (process.send === undefined || !process.connected) return false;
  process.send(message);
  return true;
}

export function isStarterMessage(value: unknown): value is StarterMessage {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (!('url' in value) || typeof value.url !== 'string') return false;
  if (value.type === 'listening') return true;
  return value.type === 'first-steps' && 'key' in value && typeof value.key === 'string';
}

/**
 * Creates project `default`, its first test key and its default instance at the first start; null afterwards. The
 * instance is missing if the registry becomes unavailable in between.
 */
export async function firstSteps(registry: Registry, url: string): Promise<FirstSteps | null> {
  const first = await registry.ensureFirstProject();
  if (first === null) return null;
  // The key is returned even without an instance, because it can never be shown again.
  const opened = await registry
    .defaultInstance({ projectId: first.project.id, name: DEFAULT_INSTANCE_NAME })
    .catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return null;
      throw error;
    });
  return { url, key: first.rawKey, instanceId: opened?.instance.id ?? null };
}

/** Path of the file with the first key, for starts without a terminal. */
export function firstKeyFile(dataDir: string): string {
  return join(dataDir, 'first-key');
}

/**
 * Prints the first steps on a terminal. Other outputs (a log, a container) may keep them: there the key goes into a
 * file that only its owner can read, and the log names the file.
 */
export function showFirstSteps(
  steps: FirstSteps,
  to: { readonly terminal: boolean; readonly dataDir: string; readonly log: Pick<Logger, 'warn' | 'error'> },
): void {
  if (to.terminal) {
    process.stdout.write(textOf(steps));
    return;
  }
  const file = firstKeyFile(to.dataDir);
  try {
    replaceFile(file, `${steps.key}\n`);
    // A warning, because the file contains a valid key.
    to.log.warn(
      { event: 'first_key_written', file },
      `the first key is in ${file}, which only its owner can read: take it, and delete the file`,
    );
  } catch (error) {
    to.log.error(
      { event: 'first_key_lost', file, err: error },
      `the first key could not be written to ${file}: npm run --silent keys -- create --project ` +
        `${FIRST_PROJECT_NAME} makes another`,
    );
  }
}

/** The text contains the key once, as a line to paste; the commands use `$KEY`. */
function textOf({ url, key, instanceId }: FirstSteps): string {
  const intro = `
Project ${FIRST_PROJECT_NAME}, its first test key (shown this once; npm run keys makes others). For a second terminal:

  KEY=${key}

Look at what is found at ${url}/, which asks for the key.
`;
  if (instanceId === null) return `${intro}\n`;
  const conversation = JSON.stringify({
    instanceId,
    messages: [
      { role: 'user', userId: 'ada', content: 'How do I change the delivery address of my order?' },
      { role: 'assistant', content: 'Open the order, choose "Delivery" and enter the new address.' },
      { role: 'user', userId: 'ada', content: 'That worked, thank you so much!' },
    ],
  });
  const fields = 'fields=messages,sat,duration&dimensionFields=title,summary,language,outcome';
  const query = `${url}/v1/query/?instanceId=${instanceId}&groupBy=SESSION&${fields}`;
  return `${intro}
Ingest a conversation:

  curl ${url}/v1/ingest/ -H "x-api-key: $KEY" -H 'content-type: application/json' -d '${conversation}'

Query it (the last header waits until the conversation has been processed):

  curl '${query}' -H "x-api-key: $KEY" -H 'x-wait-for-position: 1'

`;
}
