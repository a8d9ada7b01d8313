import { AppError, SetupError } from '../errors.ts';
import { openRegistry, type Registry } from '../registry/registry.ts';
import { runStreamCommand } from './command.ts';

export { parseCommandLine, printTable, UsageError } from './command.ts';

/**
 * Runs a command on the registry of the running service and ends the process: 0, 1 with one line on what is
 * wrong, 2 with the usage. `parse` reads the command line before anything is opened.
 */
export async function runRegistryCommand(
  usage: string,
  parse: (args: readonly string[]) => (registry: Registry) => Promise<void>,
): Promise<void> {
  await runStreamCommand(usage, (args) => {
    const work = parse(args);
    return async (connection, { streamReplicas }) => {
      try {
        const registry = await openRegistry(connection, { replicas: streamReplicas });
        await registry.whenReady();
        try {
          await work(registry);
        } finally {
          await registry.close();
        }
      } catch (error) {
        if (error instanceof AppError) throw new SetupError(error.message, { cause: error });
        throw error;
      }
    };
  });
}
