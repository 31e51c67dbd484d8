import type { Agent } from 'node:http';

/** Brings what keeps the connections of a protocol, `http:` or `https:`. */
export type Connections = (protocol: string) => Promise<Agent>;

/** Shorter than most servers wait, so that it is rarely them who close. */
const IDLE_MS = 4_000;
/** Of one host; fewer than are in use at once would be closed and opened all the time. */
const MOST_IDLE = 32;

/**
 * Keeps connections for a while after a request. Whether a host may be connected to is judged when a connection is
 * made; one that is used again is where it was. They keep no process running.
 */
export function keptConnections(): Connections {
  const agents = new Map<string, Promise<Agent>>();
  return (protocol) => {
    const agent = agents.get(protocol) ?? openAgent(protocol);
    agents.set(protocol, agent);
    return agent;
  };
}

/** The client is loaded with the first request. */
async function openAgent(protocol: string): Promise<Agent> {
  const client = protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new client.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MOST_IDLE });
}
