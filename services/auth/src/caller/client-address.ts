import { isIP } from 'node:net';

/**
 * The address a request comes from: what a proxy in front says of it, if the connection is from a proxy at all. On a
 * public address anybody could write the header.
 */
export function clientAddress(forwardedFor: string | undefined, peer: string | undefined): string | null {
  const direct = withoutMapping(peer ?? '');
  if (isIP(direct) !== 0 && !isPrivate(direct)) return direct;
  const named = (forwardedFor ?? '').split(',').map((part) => withoutMapping(part.trim()));
  return named.find((part) => isIP(part) !== 0) ?? (isIP(direct) === 0 ? null : direct);
}

/** IPv4 through an IPv6 socket appears as `::ffff:10.0.0.1`; a zone (`fe80::1%eth0`) means nothing elsewhere. */
function withoutMapping(address: string): string {
  return (address.split('%', 1)[0] as string).replace(/^::ffff:(?=\d+\.)/i, '');
}

function isPrivate(address: string): boolean {
  return /^(10\.|127\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe[89ab])/i.test(address);
}
