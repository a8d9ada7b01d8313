/** People whom a proxy in front has signed in. Covered by test/web/people.test.ts. */
import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { inOrder, type KeyScope } from '../domain/key-scopes.ts';
import { PAGE_HEADER } from '../domain/page-sign-in.ts';
import { isPlainName } from '../domain/printable.ts';
import type { FoundKey } from './dependencies.ts';

export interface PeopleOptions {
  /** The header in which the proxy names who asks: lower case. */
  readonly header: string;
  /** The header in which it lists their groups, with commas; null: it lists none. */
  readonly groupsHeader: string | null;
  /** Addresses and networks of the proxy. The header is believed from there alone. */
  readonly from: readonly string[];
  /** What the members of a group may do; `*`: everybody. */
  readonly scopes: ReadonlyMap<string, readonly KeyScope[]>;
  /** The instances that the members of a group see, `*` among the groups: everybody; null: all. Absent: all see all. */
  readonly instances?: ReadonlyMap<string, ReadonlySet<string> | null> | null;
  /** The project that they see; null: there is none of the name yet. */
  readonly projectId: () => Promise<string | null>;
}

export interface People {
  /** What the person who asks may do, under their name; null: nobody is named, or by nobody who may. */
  find(request: FastifyRequest): Promise<FoundKey | null>;
  /** What a person in these groups may do; null: the project that people see is not there. */
  rightsOf(name: string, groups: readonly string[]): Promise<FoundKey | null>;
}

/** The name of everybody in the table of groups. */
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
      // The proxy's own cookie comes along with requests of other sites; this header does not.
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

/** The instances that any of the groups sees. */
function seenBy(groups: readonly string[], table: PeopleOptions['instances']): Pick<FoundKey, 'instances'> {
  if (table === null || table === undefined) return {};
  const lists = groups.flatMap((group) => table.get(group) ?? (table.has(group) ? [null] : []));
  return lists.includes(null) ? {} : { instances: new Set(lists.flatMap((list) => [...(list ?? [])])) };
}

/** Node reads each byte of a header as a character; proxies write UTF-8. */
function textOf(header: string | string[]): string {
  return Buffer.from(String(header), 'latin1').toString('utf8');
}

function countOf(rawHeaders: readonly string[], name: string | null): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;
}

/** One person, and no key's name. */
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

/** `peer`: of the socket. No header changes it. */
function isFrom(networks: BlockList, peer: string | undefined): boolean {
  const family = isIP(peer ?? '');
  // A list of IPv4 networks knows IPv4 addresses that are written as IPv6, too.
  return peer !== undefined && family !== 0 && networks.check(peer, family === 4 ? 'ipv4' : 'ipv6');
}
