/** Finds the addresses that a host's name leads to. Covered by test/doors/alerts/host-addresses.test.ts. */
import { promises as dns, type LookupAddress } from 'node:dns';
import { Turns } from '../../domain/turns.ts';

export interface AddressOptions {
  /** Name servers, as `dns.setServers` takes them. Default: those of the system. */
  readonly servers?: readonly string[];
  /** Finds a name as the system does, by its files too. Default: getaddrinfo. */
  readonly bySystem?: (name: string) => Promise<LookupAddress[]>;
}

/** Rejects with what the system or the name server fails with, or when its signal aborts. */
export type FindAddresses = (name: string) => Promise<LookupAddress[]>;

/** One silent name server is given up after three seconds, three after nine: within the time that a message has. */
const LIMITS = { timeout: 800, tries: 2 };

/**
 * Asks name servers over sockets of its own: getaddrinfo would hold one of the two threads that all names of a process
 * share for as long as a name server is silent. Only where names may be private ones, which a file may know or which
 * may lack their domain, a name without an answer is looked up by the system: one name of a project at a time.
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
