import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells a client from others, as buckets do; null is a client of its own. */
type Client = () => string | null;

const asking = new AsyncLocalStorage<Client>();

/** Does the work for that client; most work never asks who it is. */
export function onBehalfOf<T>(client: Client, work: () => T): T {
  return asking.run(client, work);
}

/** Whom the work under way is done for; undefined when it is an administrator, or nobody's request. */
export function askingClient(): string | null | undefined {
  return asking.getStore()?.();
}
