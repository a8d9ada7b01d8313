/**
 * Where the server may send what: nothing that a caller names may reach what only the server can reach, unless the
 * operator says so. Covered by test/alerts/webhook-url.test.ts.
 */
import { BlockList, isIP } from 'node:net';

const LONGEST_URL = 2048;

/** What an operator has to be told when an address is refused. */
export const PRIVATE_FAULT =
  'must not lead to a loopback, private or link-local address. If the receiver is in your own network, set ' +
  'WEBHOOK_ALLOW_PRIVATE=true in the environment of web and worker';

/** Ranges of the IANA special-purpose registries (RFC 6890 and later) that are not global unicast. */
const RANGES: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const notPublic = new BlockList();
for (const [network, prefix] of RANGES)
  notPublic.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');

/** Whether an IP address is reachable from everywhere; false for what is no IP address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  // An IPv4 address in IPv6 form is checked as what it stands for.
  return !notPublic.check(address, family === 4 ? 'ipv4' : 'ipv6');
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
