import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { openConnection } from '../../src/stream/connection.ts';
import { findServer } from '../../src/stream/server/binary.ts';
import { SERVER_MAX_PAYLOAD } from '../../src/stream/server/server.ts';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { freePort } from '../support/nats.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

const CACHE_DIR = join(import.meta.dirname, '../../.cache');
const SERVERS = 3;
const GIVE_UP_MS = 120_000;
/** A follower that has not caught up after this long does not. */
const PATIENCE_MS = 20_000;
const LOG_LINES = 40;
/** How long a killed server stays away under load. */
const AWAY_MS = 3000;

/** Where a server runs. */
export interface ServerPlace {
  readonly host: string;
  /** Words before the command that starts it. */
  readonly prefix: readonly string[];
}

const LOOPBACK: ServerPlace = { host: '127.0.0.1', prefix: [] };

interface Server {
  readonly name: string;
  readonly place: ServerPlace;
  readonly url: string;
  readonly config: string;
  child: ChildProcess | null;
}

/** nats-servers that keep every stream together, `n1` and so on. */
export class Cluster {
  readonly token = randomBytes(16).toString('hex');
  readonly #folder = mkdtempSync(join(tmpdir(), 'undertone-cluster-'));
  readonly #servers: Server[] = [];
  #binary = '';

  /** `places`: of each server; by default all are on loopback. */
  static async start(
    places: readonly ServerPlace[] = Array.from({ length: SERVERS }, () => LOOPBACK),
  ): Promise<Cluster> {
    const cluster = new Cluster();
    cluster.#binary = (await findServer({ cacheDir: CACHE_DIR })).file;
    const ports: { place: ServerPlace; client: number; route: number }[] = [];
    for (const place of places) ports.push({ place, client: await freePort(), route: await freePort() });
    const routes = ports.map(({ place, route }) => `"nats-route://${place.host}:${route}"`).join(', ');
    for (const [number, { place, client, route }] of ports.entries()) {
      const name = `n${number + 1}`;
      const folder = join(cluster.#folder, name);
      mkdirSync(folder);
      const config = join(folder, 'nats.conf');
      writeFileSync(
        config,
        `server_name: ${name}
listen: "${place.host}:${client}"
log_file: "${folder}.log"
max_payload: ${SERVER_MAX_PAYLOAD}
authorization { token: "${cluster.token}" }
jetstream { store_dir: "${folder}", sync_interval: always }
cluster { name: undertone, listen: "${place.host}:${route}", routes: [${routes}] }
`,
      );
      cluster.#servers.push({ name, place, url: `nats://${place.host}:${client}`, config, child: null });
    }
    process.on('exit', cluster.#killAll);
    for (const server of cluster.#servers) cluster.#run(server);
    return cluster;
  }

  get url(): string {
    return this.#servers.map(({ url }) => url).join(',');
  }

  /** Where all of them keep their data, by name. */
  get folder(): string {
    return this.#folder;
  }

  /** Process ids of the servers that run. */
  get pids(): number[] {
    return this.#servers.flatMap(({ child }) => child?.pid ?? []);
  }

  get names(): string[] {
    return this.#servers.map(({ name }) => name);
  }

  /** kill -9 of one server; `start` brings it back with its data. */
  async kill(name: string): Promise<void> {
    const { child } = this.#server(name);
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  start(name: string): void {
    this.#run(this.#server(name));
  }

  /** Stops a server in its tracks, until `resume`. Resolves when it has stopped: a full processor lets it run on first. */
  async pause(name: string): Promise<void> {
    const { child } = this.#server(name);
    if (child === null) return;
    child.kill('SIGSTOP');
    if (process.platform !== 'linux') return sleep(500);
    const isStopped = (): boolean => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
    while (!isStopped()) await sleep(1);
  }

  resume(name: string): void {
    this.#server(name).child?.kill('SIGCONT');
  }

  /** The server that leads the stream of conversations. */
  async leader(): Promise<string> {
    return (await this.#clusterOf())?.leader ?? '';
  }

  /**
   * Resolves when every server has everything. A follower of nats-server 2.10 that comes back may never catch up, even
   * while nothing is written; then it is restarted, as an operator does. Returns how often.
   */
  async whole(): Promise<number> {
    const deadline = performance.now() + GIVE_UP_MS;
    let restartAt = performance.now() + PATIENCE_MS;
    let restarts = 0;
    for (;;) {
      const state = await this.#clusterOf().catch(() => null);
      const followers = state?.replicas ?? [];
      if (
        followers.length === SERVERS - 1 &&
        followers.every(({ current, offline }) => current && offline !== true)
      )
        return restarts;
      const behind = followers.find(({ current }) => !current);
      if (behind !== undefined && performance.now() > restartAt) {
        await this.kill(behind.name);
        this.start(behind.name);
        restarts += 1;
        restartAt = performance.now() + PATIENCE_MS;
      }
      if (performance.now() > deadline) {
        const logs = this.#servers.map(
          ({ name, child }) => `${name}, pid ${child?.pid ?? 'none'}:\n${this.#logOf(name)}`,
        );
        throw new Error(`the cluster is not whole: ${JSON.stringify(state)}\n${logs.join('\n')}`);
      }
      await sleep(100);
    }
  }

  /** The last lines that a server logged. */
  #logOf(name: string): string {
    const file = join(this.#folder, `${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-LOG_LINES).join('\n') : '';
  }

  async stop(): Promise<void> {
    await Promise.all(this.names.map((name) => this.kill(name)));
    process.off('exit', this.#killAll);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #killAll = (): void => {
    for (const { child } of this.#servers) child?.kill('SIGKILL');
  };

  async #clusterOf() {
    const connection = await openConnection({
      url: this.url,
      token: () => this.token,
      name: 'test of the cluster',
    });
    try {
      const manager = await jetstreamManager(connection.nats, { checkAPI: false });
      return (await manager.streams.info(CONVERSATIONS_STREAM)).cluster;
    } finally {
      await connection.close();
    }
  }

  #server(name: string): Server {
    const server = this.#servers.find((candidate) => candidate.name === name);
    if (server === undefined) throw new Error(`no server ${name}`);
    return server;
  }

  #run(server: Server): void {
    const [command = '', ...words] = [...server.place.prefix, this.#binary, '-c', server.config];
    const child = spawn(command, words, { stdio: 'ignore' });
    server.child = child;
    child.once('exit', () => {
      if (server.child === child) server.child = null;
    });
  }
}

/**
 * A cluster of three with every stream on all of them: under load one server after the other, the leader as
 * well, is killed with kill -9 and comes back. Two are enough to go on, and nothing is lost.
 */
export async function cluster({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const servers = await Cluster.start();
  try {
    const stack = await Stack.start({
      env: { NATS_URL: servers.url, NATS_TOKEN: servers.token, STREAM_REPLICAS: String(SERVERS) },
    });
    try {
      const load = await Load.start(stack, await stack.newKey(), { long, seed, writers: 4, pauseMs: 5 });
      for (let round = 1; round <= rounds; round += 1) {
        const restarts = await servers.whole();
        if (restarts > 0) say(`a follower that did not catch up was restarted: ${restarts} times`);
        if (round > 1) load.resume();
        const leader = await servers.leader();
        // Leaders and followers by turns.
        const victim =
          round % 2 === 1 ? leader : random.pick(servers.names.filter((name) => name !== leader));
        await sleep(random.between(200, 1000));
        await servers.kill(victim);
        figures.kills += 1;
        recovered(
          figures,
          victim === leader ? 'ingest without the leader' : 'ingest without a follower',
          await load.probe(),
        );
        recovered(figures, 'counting', await load.counted());
        await sleep(AWAY_MS);
        await load.pause();
        await load.settle();
        say(
          `round ${round}: ${victim}${victim === leader ? ' (leader)' : ''} killed, ${load.accepted} messages ` +
            'accepted and counted',
        );
        servers.start(victim);
        figures.rounds += 1;
      }
      await servers.whole();
      addLoad(figures, await load.stop());
      return figures;
    } finally {
      await stack.stop();
    }
  } finally {
    await servers.stop();
  }
}
