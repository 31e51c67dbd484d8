import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Standard output did not take everything; the message is for people, and empty when nobody reads any more. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
}

/** Standard output. Whoever keeps what a command says learns from its exit code that some of it is missing. */
export class StandardOutput {
  readonly #stream: Writable;
  #failure: NodeJS.ErrnoException | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  print(text: string): void {
    this.#stream.write(text);
  }

  /** Nothing piles up in memory when whoever reads is slow; when he is gone, so are we. @throws OutputLost */
  async send(content: string | Uint8Array): Promise<void> {
    this.#check();
    if (this.#stream.write(content) || this.#stream.destroyed) return;
    await Promise.race([once(this.#stream, 'drain'), once(this.#stream, 'close')]).catch(() => {});
    this.#check();
  }

  /** Waits until everything was taken. @throws OutputLost */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
    this.#check();
  }

  #check(): void {
    const { code, message } = this.#failure ?? {};
    if (this.#failure === undefined && !this.#stream.destroyed) return;
    const isNobodyThere = message === undefined || code === 'EPIPE';
    throw new OutputLost(isNobodyThere ? '' : `standard output does not take everything: ${message}`);
  }
}
