/**
 * Connects commands to the running service's NATS.
 *
 * Test: test/cli/keys.test.ts.
 */
import { loadConfig, type Config } from '../config.ts';
import { AppError, SetupError } from '../errors.ts';
import { openRegistry, type Registry } from '../web/registry/registry.ts';
import { isAway, openConnection, type StreamConnection } from '../stream/connection.ts';
import { BucketUnavailableError } from '../stream/kv/key-value.ts';
import { connectionOptions } from '../stream/server/server.ts';
import type { Work } from './command.ts';

const REACH_MS = 3000;

/** Connects to NATS for the duration of `work`. Throws SetupError when nothing answers, or no longer. */
export async function withConnection<Result>(
  config: Parameters<typeof connectionOptions>[0],
  options: { readonly name: string; readonly giveUpAfterMs?: number },
  work: (connection: StreamConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection({
    giveUpAfterMs: REACH_MS,
    ...connectionOptions(config),
    ...options,
  });
  try {
    return await work(connection);
  } catch (error) {
    if (!isAway(error) && !(error instanceof BucketUnavailableError)) throw error;
    throw new SetupError('The NATS server did not answer in time: try again once it does.', { cause: error });
  } finally {
    await connection.close();
  }
}

/** Creates work that uses the stream of the running service. */
export function onStream(
  work: (connection: StreamConnection, config: Config) => Promise<number | void>,
): Work {
  return async () => {
    const config = loadConfig();
    return withConnection(config, { name: 'undertone-command' }, (connection) => work(connection, config));
  };
}

/** Opens the registry for the duration of `work`. */
export async function withRegistry<Result>(
  connection: StreamConnection,
  options: { readonly replicas?: number },
  work: (registry: Registry) => Promise<Result>,
): Promise<Result> {
  const registry = await openRegistry(connection, options);
  try {
    await registry.whenReady();
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** What work with the registry may use besides; `replicas` opens buckets beside it. */
interface Beside {
  readonly connection: StreamConnection;
  readonly config: Config;
  readonly replicas: { readonly replicas: number };
}

/** Creates work that uses the registry of the running service. Refusals of the registry become SetupErrors. */
export function onRegistry(work: (registry: Registry, beside: Beside) => Promise<number | void>): Work {
  return onStream(async (connection, config) => {
    const replicas = { replicas: config.streamReplicas };
    try {
      return await withRegistry(connection, replicas, (registry) =>
        work(registry, { connection, config, replicas }),
      );
    } catch (error) {
      if (error instanceof AppError) throw new SetupError(error.message, { cause: error });
      throw error;
    }
  });
}
