/**
 * Resolves host names over sockets of its own, so that a silent name server cannot block the process.
 *
 * Test: test/doors/alerts/host-addresses.test.ts.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { Turns } from '../../domain/turns.ts';

export interface AddressOptions {
  /** Name servers in the form of `dns.setServers`. Default: those of the system. */
  readonly servers?: readonly string[];
  /** Resolves a name by the system, including its hosts file. Default: getaddrinfo. */
  readonly bySystem?: (name: string) => Promise<LookupAddress[]>;
}

/** Rejects with the error of the system or name server, or when its signal aborts. */
export type FindAddresses = (name: string) => Promise<LookupAddress[]>;

/** One silent name server fails after three seconds, three after nine: within a message's timeout. */
const LIMITS = { timeout: 800, tries: 2 };

/**
 * Creates the resolver. getaddrinfo would occupy one of the process's two resolver threads for as long as a name server
 * is silent. It is asked only where private names are allowed, which may be in a hosts file or lack a domain, and for
 * one name of a project at a time.
 */
export function addressFinder(allowPrivate: boolean, options: AddressOptions) {
  const { servers, bySystem = (name) => dns.lookup(name, { all: true }) } = options;
  const turns = new Turns({ most: 2, mostPerCaller: 1 });
  return (project: string, signal: AbortSignal): FindAddresses =>
    async (name) => {
      const resolver = new dns.Resolver(LIMITS);
      if (servers !== undefined) resolver.setServers(servers);
      signal.addEventListener('abort', () => resolver.cancel(), { once: true });
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const found = answers.flatMap((answer, index) =>
        answer.status === 'rejected'
          ? []
          : answer.value.map((address) => ({ address, family: 4 + 2 * index })),
      );
      if (found.length > 0) return found;
      if (!allowPrivate) throw (answers[0] as PromiseRejectedResult).reason;
      return turns.run(project, async () => {
        signal.throwIfAborted();
        return bySystem(name);
      });
    };
}
