import { BlockList, isIP } from 'node:net';

/** Whose word about where a request comes from counts. */
export interface TrustedProxies {
  /** How many proxies stand in front, when the setting is a number. */
  readonly count: number | undefined;
  /** Whether the address is that of a proxy. */
  include(address: string): boolean;
}

/** Longer chains of proxies do not exist. */
const MAX_HOPS = 100;

/** What the words of `TRUSTED_PROXIES` stand for. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
};

/** Reads `TRUSTED_PROXIES`: a single number, or words, addresses and networks, which the setting has checked. */
export function trustedProxies(values: readonly string[]): TrustedProxies {
  const [first = ''] = values;
  if (values.length === 1 && /^\d+$/.test(first)) return { count: Number(first), include: () => false };
  const networks = new BlockList();
  for (const value of values.flatMap((one) => NETWORKS[one] ?? [one])) {
    const [address = '', bits] = value.split('/');
    const family = familyOf(address);
    networks.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return { count: undefined, include: (address) => networks.check(address, familyOf(address)) };
}

/**
 * The address a request comes from. `X-Forwarded-For` is read from its end, where the proxy next to us wrote: as long
 * as an address is that of a proxy, the one before it is believed. What a client writes itself stands further to the
 * left and is never reached. When all are proxies, the first of them is the client.
 */
export function clientAddress(
  forwardedFor: string | undefined,
  peer: string | undefined,
  proxies: TrustedProxies,
): string | null {
  let client = readAddress(peer ?? '');
  const named = forwardedFor === undefined ? [] : forwardedFor.split(',');
  for (let hop = 1; client !== null && named.length > 0 && hop <= MAX_HOPS; hop++) {
    if (proxies.count === undefined ? !proxies.include(client) : hop > proxies.count) break;
    const before = readAddress(named.pop() ?? '');
    // Whatever stands before a text that is no address was not written by a proxy we know.
    if (before === null) break;
    client = before;
  }
  return client;
}

/** Whether the connection itself is a proxy's. */
export function comesFromProxy(peer: string | undefined, proxies: TrustedProxies): boolean {
  if (proxies.count !== undefined) return proxies.count > 0;
  const address = readAddress(peer ?? '');
  return address !== null && proxies.include(address);
}

/**
 * By what a client is told from others: its address, or of IPv6 the first 64 bits, because one customer has at least
 * all the addresses that begin with them.
 */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  // A translator between the two (RFC 6052) gives each IPv4 address one that begins like all others.
  if (isBelow(groups, [0x64, 0xff9b, 0, 0, 0, 0])) return endAsV4(groups);
  // 6to4 (RFC 3056) gives each 65,536 of them.
  const own = groups[0] === 0x2002 ? 3 : 4;
  const prefix = groups.slice(0, own).map((group) => group.toString(16));
  return `${prefix.join(':')}::/${own * 16}`;
}

/** An address as proxies write it, perhaps in brackets, with a port or with a zone; null when it is none. */
export function readAddress(text: string): string | null {
  const entry = text.trim();
  const [, bracketed, withPort] =
    /^\[([^\]]+)\](?::\d{1,5})?$|^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(entry) ?? [];
  const address = (bracketed ?? withPort ?? entry).split('%', 1)[0] as string;
  if (isIP(address) === 0) return null;
  return isIP(address) === 6 ? (mappedV4(address) ?? address.toLowerCase()) : address;
}

/** IPv4 through an IPv6 socket appears as `::ffff:10.0.0.1`, or as `::ffff:a00:1`. */
function mappedV4(address: string): string | undefined {
  if (!/^[0:]+ffff:/i.test(address)) return undefined;
  const groups = groupsOf(address);
  return isBelow(groups, [0, 0, 0, 0, 0, 0xffff]) ? endAsV4(groups) : undefined;
}

function isBelow(groups: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((group, index) => groups[index] === group);
}

function endAsV4(groups: readonly number[]): string {
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

/** The eight numbers of an IPv6 address, whichever way it is written. */
function groupsOf(address: string): number[] {
  const [before = [], after = []] = address.split('::').map(readGroups);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** The end may be written as an IPv4 address, which is two groups. */
function readGroups(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
