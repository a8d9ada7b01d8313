/**
 * `npm run models`: lists, fetches, checks and selects embedding models.
 *
 * Test: test/cli/models-command.test.ts.
 */
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { printableLines } from '../domain/printable.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';
import { runCommand } from './command.ts';
import { modelsCommand } from './models-command.ts';
import { openProgress } from './progress.ts';

await runCommand(
  modelsCommand(({ interruption }) => ({
    config: loadConfig(),
    defaultModel: loadConfig({}).embeddingModel,
    modelsDirectory: MODELS_DIRECTORY,
    envFile: join(MODELS_DIRECTORY, '../.env'),
    write: (text) => void process.stdout.write(printableLines(text)),
    progress: openProgress(process.stdout),
    signal: interruption(),
  })),
);
