import type { Exit, RunningProgram } from './broker.ts';

/** The program ended before it answered; how it did tells why. */
export class ConversationEnded extends Error {
  override readonly name = 'ConversationEnded';
  readonly exit: Exit;

  constructor(exit: Exit) {
    super(`git ended in the middle of a conversation: ${exit.stderr.trim() || `code ${exit.code}`}`);
    this.exit = exit;
  }
}

/**
 * Takes one answer from the front of what arrived; undefined while it is not complete.
 * @throws what the question is to fail with, when the rest of the answer is not worth waiting for: that ends the program
 */
export type TakeAnswer<T> = (received: Buffer) => { answer: T; length: number } | undefined;

/** The same for an answer that is not kept until it is complete: without one, what it takes is done with. */
export type TakePart<T> = (received: Buffer) => ReturnType<TakeAnswer<T>> | { isPart: true; length: number };

interface Question {
  /** Tries to take the answer; false while it is not complete. */
  take(): boolean;
  fail(error: Error): void;
}

const ANSWER_TIMEOUT_MS = 30_000;

/** A program that answers questions in their order, as long as it lives. */
export class Conversation {
  readonly #program: RunningProgram;
  readonly #questions: Question[] = [];
  #received: Buffer = Buffer.alloc(0);
  #asked = 0;
  readonly #unused = Promise.withResolvers<void>();
  #holds = 1;
  /** Where the program writes objects, when that is not the repository. */
  quarantine: string | undefined;
  #exit: Exit | undefined;
  #isGivenUp = false;

  constructor(program: RunningProgram) {
    this.#program = program;
    program.stdout.on('data', (chunk: Buffer) => {
      if (this.#isGivenUp) return;
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      while (this.#questions[0]?.take() === true) this.#questions.shift();
    });
    void program.exited.then((exit) => {
      this.#exit = exit;
      for (const question of this.#questions.splice(0)) question.fail(new ConversationEnded(exit));
      this.#release();
    });
  }

  /** Settles when the program has ended and nobody holds what it wrote. */
  get unused(): Promise<void> {
    return this.#unused.promise;
  }

  /** Keeps what the program wrote until the hold is disposed, even should the program end meanwhile. */
  hold(): Disposable {
    this.#holds++;
    return { [Symbol.dispose]: () => this.#release() };
  }

  #release(): void {
    if (--this.#holds === 0) this.#unused.resolve();
  }

  /** How many questions it was asked so far; long-lived git processes get slower and are replaced. */
  get asked(): number {
    return this.#asked;
  }

  /** Settles when the program has ended. */
  get ended(): Promise<Exit> {
    return this.#program.exited;
  }

  /** @throws ConversationEnded when the program ends instead of answering */
  ask<T>(question: string | Buffer, takeAnswer: TakeAnswer<T> | TakePart<T>): Promise<T> {
    this.#asked++;
    return new Promise<T>((resolve, reject) => {
      if (this.#exit !== undefined) return reject(new ConversationEnded(this.#exit));
      const timer = setTimeout(() => this.#program.kill(), ANSWER_TIMEOUT_MS);
      this.#questions.push({
        take: () => {
          try {
            const taken = takeAnswer(this.#received);
            if (taken === undefined) return false;
            this.#received = this.#received.subarray(taken.length);
            if ('isPart' in taken) return false;
            resolve(taken.answer);
          } catch (error) {
            this.#giveUp();
            reject(error as Error);
          }
          clearTimeout(timer);
          return !this.#isGivenUp;
        },
        fail: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#write(question);
    });
  }

  /** What it still says answers nobody; those who wait are told when it has ended. */
  #giveUp(): void {
    this.#isGivenUp = true;
    this.#received = Buffer.alloc(0);
    this.#program.kill();
  }

  /** Questions asked together go together: a write for each would wake the program as often. */
  #write(question: string | Buffer): void {
    const { stdin } = this.#program;
    if (stdin?.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin?.write(question);
  }

  /** Lets it answer what it was asked, then end. */
  end(): void {
    this.#program.stdin?.end();
  }
}
