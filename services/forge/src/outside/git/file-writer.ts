import { Worker } from 'node:worker_threads';
import { assertOutsideTransaction } from '@croft/runtime';

/** Files to be written, side by side in a folder. */
export interface NewFiles {
  folder: string;
  contents: readonly Uint8Array[];
  mode: number;
  /** Folders that are made where they are missing; those above them are there. */
  places: readonly string[];
}

/** What the thread is asked to do: to write, or to let go of a folder, of all of them when it is empty. */
export type WriteRequest = { job: number } & ({ files: NewFiles } | { forget: string });

/** What became of it. */
export interface WriteResult {
  job: number;
  paths: string[];
  failure?: { message: string; code: string | undefined };
}

/**
 * Writes small files and flushes them to the disk, in a thread of its own. Opening, writing, flushing and closing each of a few
 * files through the thread pool are some twenty changes of threads, each of which takes longer than what it is for.
 */
export class FileWriter {
  #running: Running | undefined;
  #asked = 0;

  /**
   * Makes files of names that nobody knows, which are on the disk when it returns: all of them, or it fails and leaves none.
   * @returns their paths, in the order of the contents
   * @throws what the system says, with its code
   */
  async write(files: NewFiles): Promise<string[]> {
    assertOutsideTransaction('writing files');
    this.#running ??= this.#start();
    return await this.#ask(this.#running, { files });
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

  async #ask(
    { thread, jobs }: Running,
    request: { files: NewFiles } | { forget: string },
  ): Promise<string[]> {
    const job = ++this.#asked;
    const done = Promise.withResolvers<string[]>();
    jobs.set(job, done);
    thread.ref();
    thread.postMessage({ job, ...request } satisfies WriteRequest);
    return await done.promise;
  }

  #start(): Running {
    const thread = new Worker(new URL('./file-writer-thread.ts', import.meta.url));
    const jobs: Running['jobs'] = new Map();
    const running = { thread, jobs };
    thread.on('message', ({ job, paths, failure }: WriteResult) => {
      const done = jobs.get(job);
      jobs.delete(job);
      if (jobs.size === 0) thread.unref();
      if (failure === undefined) done?.resolve(paths);
      else done?.reject(Object.assign(new Error(failure.message), { code: failure.code }));
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

/** A thread, and who waits for it. */
interface Running {
  readonly thread: Worker;
  readonly jobs: Map<number, PromiseWithResolvers<string[]>>;
}
