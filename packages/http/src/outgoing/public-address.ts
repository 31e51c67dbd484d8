import { BlockList, isIPv4, isIPv6 } from 'node:net';

// The registries of special addresses (RFC 6890, kept by IANA): nothing in them is somebody's public server.
const special4 = new BlockList();
for (const range of [
  '0.0.0.0/8', // this network; 0.0.0.0 reaches the machine itself
  '10.0.0.0/8',
  '100.64.0.0/10', // carriers' own, also where some clouds keep their metadata
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local with the metadata services of the clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]) {
  addRange(special4, range, 'ipv4');
}

/** What may be public at all: everything else is loopback, mapped, translated, local or not given out. */
const global6 = new BlockList();
addRange(global6, '2000::/3', 'ipv6');
const special6 = new BlockList();
for (const range of [
  '2001::/23', // tunnels with an IPv4 address inside, benchmarks, identifiers
  '2001:db8::/32',
  '2002::/16', // an IPv4 address inside
  '3fff::/20',
]) {
  addRange(special6, range, 'ipv6');
}

function addRange(list: BlockList, range: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', prefix] = range.split('/');
  list.addSubnet(network, Number(prefix), family);
}

/** Whether an address, without brackets, is one of the public internet. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4');
  return isIPv6(address) && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
