/**
 * Where the server may send what: nothing that a caller names may reach what only the server can reach, unless the
 * operator says so. Covered by test/doors/alerts/webhook-url.test.ts.
 */
import { BlockList, isIP } from 'node:net';

const LONGEST_URL = 2048;

const PRIVATE = 'a loopback, private or link-local address';
const OPEN =
  'If the receiver is in your own network, set WEBHOOK_ALLOW_PRIVATE=true in the environment of web and worker';

/** What an operator has to be told when an address is refused. */
export const PRIVATE_FAULT = `must not lead to ${PRIVATE}. ${OPEN}`;

/**
 * The same of a name. It says no more of a name that is known here and private than of one that nobody knows: else
 * whoever makes alerts could ask for the names of this network.
 */
export const NAME_FAULT = `the name of the host is not known, or leads to ${PRIVATE}. ${OPEN}`;

/** The IANA IPv4 Special-Purpose Address Registry (2025-10-09), multicast, and one of a cloud. */
const notPublicIpv4 = blockListOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Public by its number, but answers each machine of Azure about itself. Other clouds use ranges of the registries.
  '168.63.129.16/32',
]);
/**
 * The blocks of the IANA IPv6 Special-Purpose Address Registry (2025-10-09) within 2000::/3: 2001::/23 holds Teredo,
 * 2002::/16 is 6to4. The forms of IPv4 in IPv6 other than these stand outside of it.
 */
const notPublicIpv6 = blockListOf([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);
/** Where IPv6 has addresses of the internet: the only range that is given out. */
const globalIpv6 = blockListOf(['2000::/3']);
/** IPv4-mapped, as systems write an IPv4 address where they want IPv6: it is connected to as what it stands for. */
const mappedIpv6 = blockListOf(['::ffff:0:0/96']);

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Whether an IP address is reachable from everywhere; false for what is no IP address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublicIpv4.check(address, 'ipv4');
  if (family !== 6) return false;
  // A list of IPv4 addresses knows them in this form as well.
  if (mappedIpv6.check(address, 'ipv6')) return !notPublicIpv4.check(address, 'ipv6');
  return globalIpv6.check(address, 'ipv6') && !notPublicIpv6.check(address, 'ipv6');
}

/** The host of a URL as it is connected to: without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Why nothing can be posted to a URL; null when it can, as far as is known without asking for its address. */
export function faultOfUrl(text: string, allowPrivate: boolean): string | null {
  if (text.length > LONGEST_URL) return `must be at most ${LONGEST_URL} characters long`;
  const url = URL.parse(text);
  if (url === null) return 'must be a URL, such as https://example.com/hook';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user or a password: messages are signed';
  const host = hostOf(url);
  if (host === '') return 'must name a host';
  if (allowPrivate) return null;
  const isLocal = isIP(host) === 0 ? /^(?:.*\.)?localhost\.?$/i.test(host) : !isPublicAddress(host);
  return isLocal ? PRIVATE_FAULT : null;
}
