import { AppError } from '../errors.ts';
import { FIRST_PROJECT_NAME } from '../registry/registry.ts';
import { DEFAULT_INSTANCE_NAME } from '../domain/limits.ts';
import type { Registry } from '../registry/registry.ts';

/** What `web` tells `npm start` over the channel between them. */
export type StarterMessage =
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'first-steps'; readonly text: string };

/** False when the process was not started by `npm start`. */
export function tellStarter(message: StarterMessage): boolean {
  if (process.send === undefined || !process.connected) return false;
  process.send(message);
  return true;
}

export function isStarterMessage(value: unknown): value is StarterMessage {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'listening') return 'url' in value && typeof value.url === 'string';
  return value.type === 'first-steps' && 'text' in value && typeof value.text === 'string';
}

/**
 * On the first start: makes project `default`, its first test key and its default instance, and returns a text
 * with the key and two commands to paste. Null ever after. Without the instance, and the commands, when
 * the registry goes away in between.
 */
export async function firstSteps(registry: Registry, url: string): Promise<string | null> {
  const first = await registry.ensureFirstProject();
  if (first === null) return null;
  const key = `
Project ${FIRST_PROJECT_NAME}, its first test key (shown this once; npm run keys makes others):

  ${first.rawKey}

Look at what is found:

  ${url}/#key=${first.rawKey}
`;
  // The key can be shown only now: the service may be ending already, and then no instance is made.
  const opened = await registry
    .defaultInstance({ projectId: first.project.id, name: DEFAULT_INSTANCE_NAME })
    .catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return null;
      throw error;
    });
  if (opened === null) return `${key}\n`;
  const { instance } = opened;
  const conversation = JSON.stringify({
    instanceId: instance.id,
    messages: [
      { role: 'user', userId: 'ada', content: 'How do I change the delivery address of my order?' },
      { role: 'assistant', content: 'Open the order, choose "Delivery" and enter the new address.' },
      { role: 'user', userId: 'ada', content: 'That worked, thank you so much!' },
    ],
  });
  const fields = 'fields=messages,sat,duration&dimensionFields=title,summary,language';
  const query = `${url}/v1/query/?instanceId=${instance.id}&groupBy=SESSION&${fields}`;
  return `${key}
Ingest a conversation:

  curl ${url}/v1/ingest/ -H 'x-api-key: ${first.rawKey}' -H 'content-type: application/json' -d '${conversation}'

Query it (the last header waits until the conversation has been processed):

  curl '${query}' -H 'x-api-key: ${first.rawKey}' -H 'x-wait-for-position: 1'

`;
}
