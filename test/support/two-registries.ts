import { openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { startTestServer } from './nats.ts';

/** The registries of two processes on one server. */
export interface TwoRegistries {
  readonly here: Registry;
  readonly there: Registry;
  /** Of `here`. */
  readonly connection: StreamConnection;
  stop(): Promise<void>;
}

/** Opens them. `now`: milliseconds since 1970. */
export async function openTwoRegistries(now: () => number): Promise<TwoRegistries> {
  const server = await startTestServer();
  const open = async (): Promise<{ connection: StreamConnection; registry: Registry }> => {
    const connection = await openConnection({ ...server.address, name: 'test' });
    const registry = await openRegistry(connection, { now: () => new Date(now()) });
    await registry.whenReady();
    return { connection, registry };
  };
  const [one, other] = await Promise.all([open(), open()]);
  return {
    here: one.registry,
    there: other.registry,
    connection: one.connection,
    async stop() {
      for (const { registry } of [one, other]) await registry.close();
      for (const { connection } of [one, other]) await connection.close();
      await server.stop();
    },
  };
}
