import { Worker } from 'node:worker_threads';
import { assertOutsideTransaction } from '@croft/runtime';

/** Files to be written, side by side in a folder. */
export interface NewFiles {
  folder: string;
  contents: readonly Uint8Array[];
  mode: number;
  /** What they are called when they are on the disk, below the same folder; without it they keep names that nobody knows. */
  names?: readonly string[];
}

/** A file that is to be replaced under its lock, if it still is what it was. */
export interface FileSwap {
  file: string;
  /** Where what is to be in it lies, on the disk; it is used up. */
  value: string;
  /** Nobody else replaces the file while it is there. */
  lock: string;
  old: string;
}

/** What became of it. */
export interface Swapped {
  isDone: boolean;
  /** What was in the file; undefined when somebody has the lock, or there is none. */
  found: string | undefined;
}

/** What the thread is asked to do; the folder it is to let go of may be empty for all of them. */
export type WriteRequest = { job: number } & Asked;

/** What became of it. */
export type WriteResult = { job: number } & (
  | { value: string[] | Swapped | undefined }
  | { failure: { message: string; code: string | undefined } }
);

/**
 * Writes small files and flushes them to the disk, in a thread of its own. Opening, writing, flushing, closing and naming each of
 * a few files through the thread pool are some twenty changes of threads, each of which takes longer than what it is for.
 */
export class FileWriter {
  #running: Running | undefined;
  #asked = 0;

  /**
   * Makes files that are on the disk when it returns: all of them, or it fails and leaves none but some that have their name.
   * @returns their paths, in the order of the contents
   * @throws what the system says, with its code
   */
  async write(files: NewFiles): Promise<string[]> {
    assertOutsideTransaction('writing files');
    return (await this.#ask(this.#thread, { files })) as string[];
  }

  /**
   * Replaces a file, which is on the disk when it returns.
   * @throws what the system says; then it may have been replaced
   */
  async swap(swap: FileSwap): Promise<Swapped> {
    assertOutsideTransaction('moving a file');
    return (await this.#ask(this.#thread, { swap })) as Swapped;
  }

  get #thread(): Running {
    this.#running ??= this.#start();
    return this.#running;
  }

  /** Lets go of a folder that is about to go away. */
  async forget(folder: string): Promise<void> {
    if (this.#running !== undefined) await this.#ask(this.#running, { forget: folder });
  }

  /** Ends the thread, when it has done what it was asked. */
  async close(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    await this.#ask(running, { forget: '' }).catch(() => {});
    await running.thread.terminate();
  }

  async #ask({ thread, jobs }: Running, request: Asked): Promise<unknown> {
    const job = ++this.#asked;
    const done = Promise.withResolvers<unknown>();
    jobs.set(job, done);
    thread.ref();
    thread.postMessage({ job, ...request } satisfies WriteRequest);
    return await done.promise;
  }

  #start(): Running {
    const thread = new Worker(new URL('./file-writer-thread.ts', import.meta.url));
    const jobs: Running['jobs'] = new Map();
    const running = { thread, jobs };
    thread.on('message', (result: WriteResult) => {
      const done = jobs.get(result.job);
      jobs.delete(result.job);
      if (jobs.size === 0) thread.unref();
      if ('value' in result) done?.resolve(result.value);
      else done?.reject(Object.assign(new Error(result.failure.message), { code: result.failure.code }));
    });
    // For want of memory, say. Whoever waits is told; the next one starts another.
    const lose = (reason: Error) => {
      if (this.#running === running) this.#running = undefined;
      for (const done of jobs.values()) done.reject(reason);
      jobs.clear();
    };
    thread.on('error', lose);
    thread.on('exit', () => lose(new Error('the thread that writes files has ended')));
    return running;
  }
}

type Asked = { files: NewFiles } | { swap: FileSwap } | { forget: string };

/** A thread, and who waits for it. */
interface Running {
  readonly thread: Worker;
  readonly jobs: Map<number, PromiseWithResolvers<unknown>>;
}
