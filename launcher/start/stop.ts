/** Why a running Croft ends. */
export interface Reason {
  readonly words: string;
  readonly exitCode: number;
}

/** Signals that ask for an orderly end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C arrives up to three times: from the terminal, from npm and from the bootstrap. */
const SAME_MS = 700;

/** The one request to end: the first counts, and a second signal of an impatient person ends at once. */
export class Stop {
  readonly requested: Promise<Reason>;
  #asked: Reason | undefined;
  readonly #resolve: (reason: Reason) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Reason>();
    this.requested = promise;
    this.#resolve = resolve;
  }

  get asked(): boolean {
    return this.#asked !== undefined;
  }

  request(words: string, exitCode = 0): void {
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
