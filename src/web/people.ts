/**
 * People whom a proxy has signed in. Its headers are trusted only from its own addresses.
 *
 * Test: test/web/people.test.ts.
 */
import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { inOrder, type KeyScope } from '../domain/key-scopes.ts';
import { PAGE_HEADER } from '../domain/page-sign-in.ts';
import { isPlainName } from '../domain/printable.ts';
import type { FoundKey } from './dependencies.ts';

export interface PeopleOptions {
  /** Header with the person's name, lower case. */
  readonly header: string;
  /** Header with the person's groups, separated by commas; null: none. */
  readonly groupsHeader: string | null;
  /** Addresses and networks of the proxy. The headers are trusted from there only. */
  readonly from: readonly string[];
  /** Scopes of the members of each group; `*`: everybody. */
  readonly scopes: ReadonlyMap<string, readonly KeyScope[]>;
  /** Visible instances of the members of each group, `*`: everybody; null: all. Absent: everybody sees all. */
  readonly instances?: ReadonlyMap<string, ReadonlySet<string> | null> | null;
  /** The visible project; null until a project has its name. */
  readonly projectId: () => Promise<string | null>;
}

export interface People {
  /** Returns the rights of the request's person; null if it names nobody, or does not come from the proxy. */
  find(request: FastifyRequest): Promise<FoundKey | null>;
  /** Returns the rights of a person in these groups; null if the project is missing. */
  rightsOf(name: string, groups: readonly string[]): Promise<FoundKey | null>;
}

/** Group of everybody in the tables. */
const EVERYBODY = '*';
const LONGEST_NAME = 200;

export function createPeople({
  header,
  groupsHeader,
  from,
  scopes,
  instances = null,
  projectId,
}: PeopleOptions): People {
  const proxies = networksOf(from);
  const rightsOf: People['rightsOf'] = async (name, groups) => {
    const project = await projectId();
    if (project === null) return null;
    const own = [EVERYBODY, ...groups];
    return {
      projectId: project,
      keyId: name,
      scopes: inOrder(own.flatMap((group) => scopes.get(group) ?? [])),
      ...seenBy(own, instances),
      groups,
    };
  };
  return {
    async find({ headers, raw }) {
      const named = headers[header];
      // Requests of other sites carry the proxy's cookie, but not this header.
      if (named === undefined || headers[PAGE_HEADER] === undefined) return null;
      const name = textOf(named).trim();
      if (!isFrom(proxies, raw.socket.remoteAddress) || !isName(name)) return null;
      const once = [header, groupsHeader].every((own) => countOf(raw.rawHeaders, own) <= 1);
      if (!once) return null;
      const groups = groupsHeader === null ? '' : textOf(headers[groupsHeader] ?? '');
      const own = groups.split(',').map((group) => group.trim());
      return rightsOf(
        name,
        own.filter((group) => group !== ''),
      );
    },
    rightsOf,
  };
}

/** Returns the instances that any of the groups sees. */
function seenBy(groups: readonly string[], table: PeopleOptions['instances']): Pick<FoundKey, 'instances'> {
  if (table === null || table === undefined) return {};
  const lists = groups.flatMap((group) => table.get(group) ?? (table.has(group) ? [null] : []));
  return lists.includes(null) ? {} : { instances: new Set(lists.flatMap((list) => [...(list ?? [])])) };
}

/** Node decodes headers as Latin-1; proxies send UTF-8. */
function textOf(header: string | string[]): string {
  return Buffer.from(String(header), 'latin1').toString('utf8');
}

function countOf(rawHeaders: readonly string[], name: string | null): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;
}

/** Returns true for one person's name that is not the id of a key. */
function isName(name: string): boolean {
  const isOne = name !== '' && name.length <= LONGEST_NAME && !name.includes(',');
  return isOne && isPlainName(name) && !/^key_/i.test(name);
}

function networksOf(from: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of from) {
    const [address = '', prefix] = text.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(prefix), family);
  }
  return networks;
}

/** `peer`: address of the socket, which no header can change. */
function isFrom(networks: BlockList, peer: string | undefined): boolean {
  const family = isIP(peer ?? '');
  // A list of IPv4 networks also matches IPv4 addresses in IPv6 notation.
  return peer !== undefined && family !== 0 && networks.check(peer, family === 4 ? 'ipv4' : 'ipv6');
}
