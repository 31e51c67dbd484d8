import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { assertOutsideTransaction, type Log } from '@croft/runtime';
import { LRUCache } from 'lru-cache';
import { Broker, type Exit, type RunningProgram } from './broker.ts';
import { Conversation } from './conversation.ts';
import type { DirectOutput } from './direct-output.ts';
import { confined, gitOptions, MAX_WORKING_MEMORY_BYTES } from './environment.ts';
import { FileWriter } from './file-writer.ts';
import { GitFailed } from './git-failed.ts';

/** The conversations a repository may have: reading objects, moving refs, trying merges, doing merges. */
export type Topic = 'objects' | 'refs' | 'trials' | 'merges';

/** How git is found and how much of it may run. */
export interface GitOptions {
  /** Folder that holds `<id>.git` of every repository. */
  folder: string;
  command: string;
  /** Folders to look for it in, as in PATH. */
  searchPath: string;
  /** Most processes kept for conversations. */
  warmProcesses: number;
  log: Log;
}

/** What a command may take. */
interface RunLimits {
  timeoutMs?: number;
  /** Whether it gets less memory than others. */
  isConfined?: boolean;
  /** What it prints beyond that ends it. */
  maxBytes?: number;
}

/** A conversation nobody used for this long ends. */
const IDLE_MS = 60_000;
/**
 * After so many questions a process is replaced. merge-tree slows down from 0.07 to 0.2 ms over some thousand merges; cat-file does
 * not within 200,000, but keeps packs open that are gone.
 */
const QUESTIONS_PER_PROCESS: { readonly [T in Topic]: number } = {
  objects: 100_000,
  refs: 4000,
  trials: 4000,
  merges: 4000,
};
const COMMAND_TIMEOUT_MS = 60_000;
/** Else it looks whether other refs, or one with the name of an id, could be meant: a dozen system calls for a warning. */
const UNWARNED = [['core.warnAmbiguousRefs', 'false']] as const;
/** `merge-tree --stdin` came with git 2.39. */
const FIRST_WITH_STDIN = 39;

/** Runs git on repositories: one-shot commands, and processes kept at hand for those in use. */
export class Git {
  readonly folder: string;
  /** Writes what is to be on the disk at once. */
  readonly files = new FileWriter();
  readonly #command: string;
  readonly #broker: Broker;
  /** Empty when a merge-tree process cannot be talked with: git before 2.39, or no stdbuf to make it answer at once. */
  readonly #unbuffered: readonly string[];
  readonly #warm: LRUCache<string, Promise<Conversation>>;
  readonly #renewing = new Set<string>();
  readonly #log: Log;
  #quarantines = 0;

  private constructor(options: GitOptions, broker: Broker, unbuffered: readonly string[]) {
    // Programs may be started in other folders than ours.
    this.folder = resolve(options.folder);
    this.#command = options.command;
    this.#log = options.log;
    this.#broker = broker;
    this.#unbuffered = unbuffered;
    this.#warm = new LRUCache({
      max: options.warmProcesses,
      ttl: IDLE_MS,
      updateAgeOnGet: true,
      ttlAutopurge: true,
      dispose: (conversation) =>
        void conversation.then(
          (one) => one.end(),
          () => {},
        ),
    });
  }

  /** Starts the broker and looks at what the machine has. */
  static async open(options: GitOptions): Promise<Git> {
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    const broker = await Broker.open(options.log, options.searchPath);
    const probe = await broker.start({
      command: 'stdbuf',
      args: ['-o0', options.command, '--version'],
      input: false,
    });
    const [printed, { code }] = await Promise.all([buffer(probe.stdout), probe.exited]);
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(printed.toString()) ?? []).map(Number);
    const readsMerges = major > 2 || (major === 2 && minor >= FIRST_WITH_STDIN);
    return new Git(options, broker, code === 0 && readsMerges ? ['stdbuf', '-o0'] : []);
  }

  /** Whether a merge-tree process can be kept at hand. */
  get hasUnbufferedMerges(): boolean {
    return this.#unbuffered.length > 0;
  }

  /** The folder of a repository: from the row's id, never from a request. */
  folderOf(repositoryId: number): string {
    return join(this.folder, `${repositoryId}.git`);
  }

  /** Starts git with the given arguments. */
  start(
    args: readonly string[],
    input: boolean,
    environment: Record<string, string> = {},
  ): Promise<RunningProgram> {
    return this.#broker.start({ command: this.#command, args, input, environment });
  }

  /** Starts git, with input, so that what it writes is only passed on. */
  startDirect(
    args: readonly string[],
    environment: Record<string, string> = {},
  ): Promise<RunningProgram<DirectOutput>> {
    return this.#broker.startDirect({ command: this.#command, args, input: true, environment });
  }

  /** Starts git behind everything else that wants the processor. */
  startBehind(args: readonly string[]): Promise<RunningProgram> {
    return this.#broker.start({ command: 'nice', args: ['-n', '19', this.#command, ...args], input: false });
  }

  /** Starts git with less memory than others get, for what takes more than there is in the files. */
  startConfined(
    args: readonly string[],
    input: boolean,
    environment: Record<string, string> = {},
  ): Promise<RunningProgram> {
    const [command, all] = confined(MAX_WORKING_MEMORY_BYTES, this.#command, args);
    return this.#broker.start({ command, args: all, input, environment });
  }

  /**
   * What a command on a repository prints.
   * @throws when it did not end well: a git that cannot run prints nothing, which is no answer
   */
  async output(
    repositoryId: number,
    args: readonly string[],
    input?: string | Buffer,
    environment: Record<string, string> = {},
    limits: RunLimits = {},
  ): Promise<Buffer> {
    const { stdout, ...exit } = await this.run(repositoryId, args, input, environment, limits);
    if (exit.code !== 0) throw new GitFailed(repositoryId, args, exit);
    return stdout;
  }

  /** The same for who can tell from the exit code, and what was said, whether git failed or said no; he has to. */
  async run(
    repositoryId: number,
    args: readonly string[],
    input?: string | Buffer,
    environment: Record<string, string> = {},
    {
      timeoutMs = COMMAND_TIMEOUT_MS,
      isConfined = false,
      maxBytes = Number.POSITIVE_INFINITY,
    }: RunLimits = {},
  ): Promise<Exit & { stdout: Buffer }> {
    assertOutsideTransaction(`git ${args[0]}`);
    const all = [...gitOptions(this.folderOf(repositoryId)), ...args];
    const program = isConfined
      ? await this.startConfined(all, input !== undefined, environment)
      : await this.start(all, input !== undefined, environment);
    const timer = setTimeout(() => program.kill(), timeoutMs);
    if (input !== undefined) program.stdin?.end(input);
    const [stdout, exit] = await Promise.all([readUpTo(program, maxBytes), program.exited]);
    clearTimeout(timer);
    return { ...exit, stdout };
  }

  /** The conversation of a repository on a topic, begun when there is none. */
  async converse(repositoryId: number, topic: Topic): Promise<Conversation> {
    assertOutsideTransaction(`git (${topic})`);
    const key = `${repositoryId} ${topic}`;
    const begun = this.#warm.get(key) ?? this.#keep(key, this.#converse(repositoryId, topic));
    const warm = await begun;
    if (warm.asked >= QUESTIONS_PER_PROCESS[topic] && this.#warm.peek(key) === begun)
      void this.#renew(key, begun, () => this.#converse(repositoryId, topic));
    return warm;
  }

  /** Lets go of a repository: it is about to go away. */
  async forget(repositoryId: number): Promise<void> {
    for (const topic of ['objects', 'refs', 'trials', 'merges'])
      this.#warm.delete(`${repositoryId} ${topic}`);
    await this.files.forget(join(this.folderOf(repositoryId), 'objects'));
  }

  /** A private place for files of the life of this process. */
  get scratch(): string {
    return this.#broker.folder;
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    this.#warm.clear();
    await Promise.all([this.#broker.close(), this.files.close()]);
  }

  #keep(key: string, begun: Promise<Conversation>): Promise<Conversation> {
    this.#warm.set(key, begun);
    const drop = () => {
      if (this.#warm.peek(key) === begun) this.#warm.delete(key);
    };
    void begun.then((conversation) => conversation.ended.then(drop), drop);
    return begun;
  }

  /** Nobody waits for the next process: the one at hand answers until it is there. */
  async #renew(
    key: string,
    current: Promise<Conversation>,
    begin: () => Promise<Conversation>,
  ): Promise<void> {
    if (this.#renewing.has(key)) return;
    this.#renewing.add(key);
    try {
      const next = await begin();
      // The repository may be about to go away.
      if (this.#warm.peek(key) === current) void this.#keep(key, Promise.resolve(next));
      else next.end();
    } catch (error) {
      this.#log.warn({ error: (error as Error).message }, 'git could not be started anew; it is tried again');
    } finally {
      this.#renewing.delete(key);
    }
  }

  async #converse(repositoryId: number, topic: Topic): Promise<Conversation> {
    const folder = this.folderOf(repositoryId);
    switch (topic) {
      case 'objects':
        return await this.#talkTo([...gitOptions(folder, UNWARNED), 'cat-file', '--batch-command']);
      case 'refs':
        return await this.#talkTo([...gitOptions(folder, UNWARNED), 'update-ref', '-z', '--stdin']);
      case 'trials':
      case 'merges':
        return await this.#tryMerges(folder, this.quarantineFor(repositoryId, topic));
    }
  }

  /**
   * A folder for new objects, yet to be made. What trials write goes with it; what a merge or a copy wrote is moved into the
   * repository, so it is on the same disk.
   */
  quarantineFor(repositoryId: number, topic: 'trials' | 'merges' | 'copies'): string {
    return topic === 'trials'
      ? join(this.#broker.folder, `trials-${++this.#quarantines}`)
      : join(this.folderOf(repositoryId), 'objects', `tmp_objdir-${topic}-${randomUUID()}`);
  }

  async #tryMerges(folder: string, quarantine: string): Promise<Conversation> {
    await mkdir(quarantine);
    const environment = quarantined([folder], quarantine);
    const options = gitOptions(folder, [['core.fsync', 'none']]);
    const [stdbuf, ...rest] = [...this.#unbuffered, this.#command, ...options, ...MERGE_TREE];
    const [command, args] = confined(MAX_WORKING_MEMORY_BYTES, stdbuf as string, rest);
    const conversation = new Conversation(
      await this.#broker.start({ command, args, input: true, environment }),
    );
    conversation.quarantine = quarantine;
    // What cannot be removed takes room and nothing else; git looks into no such folder by itself.
    void conversation.unused.then(() => rm(quarantine, { recursive: true, force: true })).catch(() => {});
    return conversation;
  }

  async #talkTo(args: readonly string[]): Promise<Conversation> {
    // Not by `start`, which is for what is started for a request and counted as that.
    return new Conversation(await this.#broker.start({ command: this.#command, args, input: true }));
  }
}

/** What a program prints, as far as it is wanted. */
async function readUpTo(program: RunningProgram, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= maxBytes) continue;
    program.kill();
    break;
  }
  return Buffer.concat(chunks);
}

/** The environment in which git writes objects to a folder of their own and reads those of repositories, too. */
export function quarantined(
  repositoryFolders: readonly string[],
  quarantine: string,
): Record<string, string> {
  return {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: repositoryFolders.map((folder) => join(folder, 'objects')).join(':'),
  };
}

const MERGE_TREE = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--stdin'] as const;
