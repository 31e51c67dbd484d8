import { BlockList, isIP, isIPv4 } from 'node:net';
import { StartError } from '@croft/runtime';
import { readGlob } from '../rules/git/glob.ts';

/** Words for the networks that people mean most. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Which addresses outside the public internet hooks may be sent to: `FORGE_WEBHOOK_ALLOWED_HOSTS`. An entry is a host
 * name or a glob of names, an address, a network such as `10.1.0.0/16`, `loopback`, `private`, or `*` for everything.
 * @throws StartError for a network with an impossible prefix
 */
export function webhookHosts(entries: readonly string[]): (host: string, address: string) => boolean {
  const networks = new BlockList();
  const names: ((host: string) => boolean)[] = [];
  for (const entry of entries.flatMap((one) => NETWORKS[one] ?? [one])) {
    const [network = '', prefix] = entry.split('/');
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    if (isIP(network) === 0) names.push(readGlob(entry.toLowerCase()) ?? (() => false));
    else if (prefix === undefined) networks.addAddress(network, family);
    else addNetwork(networks, network, prefix);
  }
  return (host, address) =>
    names.some((takes) => takes(host.toLowerCase())) ||
    (isIP(address) !== 0 && networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'));
}

function addNetwork(networks: BlockList, network: string, prefix: string): void {
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 'ipv4' ? 32 : 128))
    throw new StartError(`FORGE_WEBHOOK_ALLOWED_HOSTS: ${network}/${prefix} is not a network`);
  networks.addSubnet(network, Number(prefix), family);
}
