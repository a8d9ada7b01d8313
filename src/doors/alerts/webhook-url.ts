/**
 * Decides which URLs and addresses the server may connect to. Keeps the invariant that a URL of a caller reaches no
 * address that only the server can reach, unless the operator allows it.
 *
 * Test: test/doors/alerts/webhook-url.test.ts.
 */
import { BlockList, isIP } from 'node:net';

const LONGEST_URL = 2048;

const PRIVATE = 'a loopback, private or link-local address';
const OPEN =
  'If the receiver is in your own network, set WEBHOOK_ALLOW_PRIVATE=true in the environment of web and worker';

/** Fault of a private address, with the setting for operators. */
export const PRIVATE_FAULT = `must not lead to ${PRIVATE}. ${OPEN}`;

/**
 * Fault of a host name. It is equal for unknown and for private names, so that callers cannot probe the names of this
 * network.
 */
export const NAME_FAULT = `the name of the host is not known, or leads to ${PRIVATE}. ${OPEN}`;

/** The IANA IPv4 Special-Purpose Address Registry (2025-10-09), multicast, and a cloud's metadata address. */
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
  // Public by its number, but it answers Azure machines about themselves. Other clouds use registered ranges.
  '168.63.129.16/32',
]);
/**
 * Blocks of the IANA IPv6 Special-Purpose Address Registry (2025-10-09) within 2000::/3: 2001::/23 contains Teredo,
 * 2002::/16 is 6to4. Other embeddings of IPv4 in IPv6 are outside of 2000::/3.
 */
const notPublicIpv6 = blockListOf([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);
/** The only range of public IPv6 addresses assigned so far. */
const globalIpv6 = blockListOf(['2000::/3']);
/** IPv4-mapped addresses; a system connects to the IPv4 address. */
const mappedIpv6 = blockListOf(['::ffff:0:0/96']);

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** True if an IP address is public; false for a text that is no IP address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublicIpv4.check(address, 'ipv4');
  if (family !== 6) return false;
  // BlockList checks IPv4 subnets against mapped addresses too.
  if (mappedIpv6.check(address, 'ipv6')) return !notPublicIpv4.check(address, 'ipv6');
  return globalIpv6.check(address, 'ipv6') && !notPublicIpv6.check(address, 'ipv6');
}

/** Returns the host of a URL without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Returns the fault of a URL, or null; does not resolve its name. */
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
