import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@croft/runtime';

const RETRY_MS = 2000;

/** An address of the settings that the daemon shall listen on. */
export interface WantedAddress {
  readonly setting: string;
  /** `host:port` */
  readonly address: string;
}

/** Addresses that this machine does not have yet: at boot the network may come after the daemon. */
export class LateAddresses {
  readonly #log: Log;
  readonly #waiting = new Set<WantedAddress>();
  readonly #closing = new AbortController();
  readonly #attempts: Promise<void>[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Those that nobody can be reached at yet. */
  get waiting(): readonly WantedAddress[] {
    return [...this.#waiting];
  }

  /** Listens now, or as soon as the machine has the address. @throws what `listen` throws for any other reason */
  async open(wanted: WantedAddress, listen: () => Promise<void>): Promise<void> {
    try {
      await listen();
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#waiting.add(wanted);
      this.#log.warn({ ...wanted }, 'this machine does not have the address yet; it is tried again');
      this.#attempts.push(this.#retry(wanted, listen));
    }
  }

  async #retry(wanted: WantedAddress, listen: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (this.#waiting.has(wanted)) {
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await listen();
        this.#waiting.delete(wanted);
        this.#log.info({ ...wanted }, 'the address is there now');
      } catch (error) {
        this.#log.debug({ ...wanted, err: error }, 'the address still cannot be used');
      }
    }
  }

  /** Tries no more; nothing is opened after this. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#attempts);
  }
}

function isMissing(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === 'EADDRNOTAVAIL';
}
