/** Run by watched-service.ts: opens the model on the main thread, as training and evaluation do, and embeds a text. */
import { join } from 'node:path';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';

const embedder = await loadEmbedder({
  model: 'undertone-small',
  modelsDirectory: join(import.meta.dirname, '../../models'),
});
await embedder.embed(['Where is my parcel?']);
