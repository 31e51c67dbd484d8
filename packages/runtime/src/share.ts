import { AsyncLocalStorage } from 'node:async_hooks';

const shares = new AsyncLocalStorage<string>();

/** Runs work that takes from somebody's share of what is short, with everything it begins. */
export function withShare<T>(share: string, work: () => T): T {
  return shares.run(share, work);
}

/** From whose share the work under way takes; what nobody asked for has one of its own. */
export function shareUnderWay(): string {
  return shares.getStore() ?? '';
}
