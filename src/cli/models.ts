/** `npm run models`: the embedding models that there are, fetching another, trying and choosing one. */
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { printableLines } from '../domain/printable.ts';
import { runCommand } from '../lifecycle.ts';
import { MODELS_USAGE, parseModelsCommand } from './models-command.ts';
import { openProgress } from './progress.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';
import { UsageError } from './command.ts';

await runCommand(async () => {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${MODELS_USAGE}\n`);
    return 0;
  }
  let work: ReturnType<typeof parseModelsCommand>;
  try {
    work = parseModelsCommand(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${MODELS_USAGE}\n`);
    return 2;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(130);
      interruption.abort();
    });
  }
  return work({
    config: loadConfig(),
    defaultModel: loadConfig({}).embeddingModel,
    modelsDirectory: MODELS_DIRECTORY,
    envFile: join(MODELS_DIRECTORY, '../.env'),
    write: (text) => void process.stdout.write(printableLines(text)),
    progress: openProgress(process.stdout),
    signal: interruption.signal,
  });
});
