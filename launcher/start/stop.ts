/** Why a running Croft ends. */
export interface Reason {
  readonly words: string;
  readonly exitCode: number;
}

/** Signals that ask for an orderly end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C arrives up to three times: from the terminal, from npm and from the bootstrap. */
const SAME_MS = 700;

/** Time that requests in flight get to finish, those of all services together. */
const GRACE_MS = 10_000;

/** Services end one after the other; the last one has so long for what came to it while it waited for its turn. */
const LEAST_MS = 1_000;

/** The one request to end: the first counts, and a second signal of an impatient person ends at once. */
export class Stop {
  readonly requested: Promise<Reason>;
  #asked: Reason | undefined;
  #askedAt = 0;
  readonly #resolve: (reason: Reason) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Reason>();
    this.requested = promise;
    this.#resolve = resolve;
  }

  get asked(): boolean {
    return this.#asked !== undefined;
  }

  /** What is left of the time that requests in flight get. */
  get graceMs(): number {
    if (!this.asked) return GRACE_MS;
    return Math.max(LEAST_MS, this.#askedAt + GRACE_MS - performance.now());
  }

  request(words: string, exitCode = 0): void {
    this.#askedAt ||= performance.now();
    this.#asked ??= { words, exitCode };
    this.#resolve(this.#asked);
  }

  listen(): void {
    let first = 0;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        first ||= Date.now();
        if (this.asked && Date.now() - first > SAME_MS) process.exit(1);
        this.request(signal);
      });
    }
  }
}
