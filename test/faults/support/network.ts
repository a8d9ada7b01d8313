/**
 * Parts of a service, each in a Linux network namespace of its own, on one bridge: links between them can be cut. This
 * process reaches all of them, whatever is cut. Nothing of it is left when the process ends, except by kill -9; the next
 * network deletes what such a process left.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

const NAME = /^undertone(\d+)-/;
/** Addresses of the parts are above that of this process. */
const FIRST = 10;

/**
 * How a cut link shows: both ends are told at once that there is no route, or nobody is told, and what is sent gets
 * lost.
 */
export type Cut = 'refused' | 'silent';

export class Network {
  readonly #parts: readonly string[];
  readonly #cuts: (readonly [part: string, address: string])[] = [];

  private constructor(parts: readonly string[]) {
    this.#parts = parts;
  }

  /** @throws Error where namespaces cannot be made */
  static open(parts: readonly string[]): Network {
    const network = new Network(parts);
    if (process.getuid?.() !== 0)
      throw new Error('network namespaces need root: run this fault as root, on Linux');
    try {
      removeLeft();
      process.on('exit', network.close);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, endProcess);
      network.#make();
      return network;
    } catch (error) {
      network.close();
      throw new Error('network namespaces cannot be made here: they need Linux, root and the command "ip"', {
        cause: error,
      });
    }
  }

  /** Address of this process in the network. */
  get host(): string {
    return addressOf(1);
  }

  addressOf(part: string): string {
    return addressOf(FIRST + this.#placeOf(part));
  }

  /** The words before a command that runs it in a part. */
  prefixOf(part: string): readonly string[] {
    return ['ip', 'netns', 'exec', namespaceOf(part)];
  }

  /** No packet gets from one part to the other, and none back. */
  cut(one: string, other: string, how: Cut): void {
    this.#drop(one, this.addressOf(other));
    if (how === 'refused') this.#drop(other, this.addressOf(one));
  }

  /** Cuts a part off, from this process, too. */
  isolate(part: string, how: Cut): void {
    for (const other of this.#parts) if (other !== part) this.cut(part, other, how);
    this.#drop(part, this.host);
  }

  /** Restores all links. */
  heal(): void {
    for (const [part, address] of this.#cuts.splice(0))
      ip('-n', namespaceOf(part), 'route', 'del', 'blackhole', address);
  }

  readonly close = (): void => {
    process.off('exit', this.close);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, endProcess);
    removeOf(process.pid);
  };

  #drop(part: string, address: string): void {
    if (this.#cuts.some(([known, to]) => known === part && to === address)) return;
    ip('-n', namespaceOf(part), 'route', 'add', 'blackhole', address);
    this.#cuts.push([part, address]);
  }

  #placeOf(part: string): number {
    const place = this.#parts.indexOf(part);
    if (place < 0) throw new Error(`no part ${part}`);
    return place;
  }

  #make(): void {
    const bridge = bridgeOf(process.pid);
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('addr', 'add', `${this.host}/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    for (const [place, part] of this.#parts.entries()) {
      const namespace = namespaceOf(part);
      const link = `${bridge}v${place}`;
      ip('netns', 'add', namespace);
      ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      ip('link', 'set', link, 'master', bridge, 'up');
      ip('-n', namespace, 'addr', 'add', `${this.addressOf(part)}/24`, 'dev', 'eth0');
      for (const device of ['eth0', 'lo']) ip('-n', namespace, 'link', 'set', device, 'up');
    }
  }
}

/** Runs of other processes have other addresses. */
function addressOf(place: number): string {
  return `10.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}.${place}`;
}

/** At most 15 characters, with the place of a part. */
function bridgeOf(pid: number): string {
  return `ut${pid}`;
}

function namespaceOf(part: string): string {
  return `undertone${process.pid}-${part}`;
}

/** The handlers of `exit` clean up. */
function endProcess(): void {
  process.exit(130);
}

function ip(...words: readonly string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function namespaces(): string[] {
  return ip('netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => NAME.test(name));
}

function removeOf(pid: number): void {
  for (const name of namespaces()) if (Number(NAME.exec(name)?.[1]) === pid) ip('netns', 'del', name);
  // A namespace stays for a while after its last process, and its link with it.
  const bridge = bridgeOf(pid);
  for (const link of readdirSync('/sys/class/net'))
    if (link === bridge || link.startsWith(`${bridge}v`)) removeLink(link);
}

/** It may go by itself meanwhile. */
function removeLink(link: string): void {
  try {
    ip('link', 'del', link);
  } catch (error) {
    if (existsSync(`/sys/class/net/${link}`)) throw error;
  }
}

function removeLeft(): void {
  const pids = new Set(namespaces().map((name) => Number(NAME.exec(name)?.[1])));
  for (const pid of pids) if (!existsSync(`/proc/${pid}`)) removeOf(pid);
}
