import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { bundledProgram, withOwnMounts } from '@croft/testing';
import { onTestFinished } from 'vitest';
import { type Answer, callAt, type Dump } from './daemon.ts';
import type { OpenedStorage } from './drivers/fixture.ts';
import { callExtra, exported, importBytes } from './extras-client.ts';
import type { Order, Report } from './stepping-process.ts';
import type { Ending } from './steps.ts';

/** Where a daemon that is stopped at steps keeps its states. */
export interface SteppingStorage extends Pick<OpenedStorage, 'settings' | 'rootWord'> {
  readonly driver: Dump['storage']['driver'];
  /** A folder of its own: by its name, which is also that of a pool, steps are told to be this daemon's. */
  readonly base: string;
  /** The folder that is the system, and the one in which homes can be made. */
  readonly tree: string;
  readonly homes: string;
  /** A device whose root is the one of the machine that the daemon sees. */
  readonly device?: string;
  /** Roots that can be booted, with what is written down of boots. */
  heads?(): readonly string[];
  /** What the boot loader was asked to start once, where it can be asked; empty for nothing. */
  nextEntry?(): string;
  /** Saves the machine and all homes as ZSys does, where that can be adopted. */
  saveAsZsys?(name: string): void;
  /** Steps that are tried on another storage, where they are the same. */
  readonly beside?: RegExp;
  /** Fails unless it holds what the daemon says and nothing besides. */
  check(dump: Dump, folder: string): void;
}

/** In a mount namespace of its own: what is mounted over `/` is told as the root, and everything is found where it was. */
const ROOTS =
  'count=$1; shift; while [ $count -gt 0 ]; do mount -o subvol=@ "$1" / || exit; shift; count=$((count - 1)); done; exec "$@"';

/** A process of daemons, each on a host of its own, that a test stops at steps, kills, and starts again. */
export class SteppingHosts {
  #child: ChildProcess | undefined;
  #orders = 0;

  constructor() {
    onTestFinished(() => this.kill());
  }

  /** A host whose boot folder is empty, unless its storage comes with one. */
  add(storage: SteppingStorage): SteppingHost {
    return new SteppingHost(storage, (order) => this.#order(order));
  }

  /** Starts the process and daemons in it. */
  async start(hosts: readonly SteppingHost[]): Promise<void> {
    await this.spawn(hosts);
    await Promise.all(hosts.map((host) => host.start()));
  }

  /** Starts the process without a daemon. @param hosts whose daemons it is for */
  async spawn(hosts: readonly SteppingHost[]): Promise<void> {
    const devices = hosts.flatMap(({ storage }) => storage.device ?? []);
    const program = [
      process.execPath,
      await bundledProgram(join(import.meta.dirname, 'stepping-process.ts')),
    ];
    const [file = '', ...args] =
      devices.length === 0 ? program : [...withOwnMounts(ROOTS), `${devices.length}`, ...devices, ...program];
    this.#child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (told: Report) => {
      if ('warned' in told) hosts.find(({ name }) => name === told.warned)?.warnings.push(told.line);
    });
    for (const { warnings } of hosts) warnings.length = 0;
    await once(this.#child, 'message');
  }

  /** Ends it as `kill -9` does; returns when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Settles with the step at which the daemon was stopped, or which was made to fail. */
  ended(name: string): Promise<string> {
    return this.#report((report) =>
      'ended' in report && report.ended === name ? { value: report.before } : undefined,
    );
  }

  async #order(order: Order): Promise<string | undefined> {
    const id = this.#orders++;
    const answered = this.#report((report) =>
      'done' in report && report.done === id ? { value: report } : undefined,
    );
    this.#child?.send({ id, order });
    const { address, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return address;
  }

  #report<T>(pick: (report: Report) => { value: T } | undefined): Promise<T> {
    const child = this.#child;
    if (child === undefined) return Promise.reject(new Error('the process was killed'));
    return new Promise((resolve) => {
      const listen = (report: Report) => {
        const found = pick(report);
        if (found === undefined) return;
        child.off('message', listen);
        resolve(found.value);
      };
      child.setMaxListeners(100).on('message', listen);
    });
  }
}

/** One daemon of them, and what lies around it. */
export class SteppingHost {
  readonly storage: SteppingStorage;
  readonly name: string;
  readonly folder: string;
  readonly tree: string;
  readonly homes: string;
  readonly boot: string;
  /** What its daemon has logged as a warning, or worse, since the process was started. */
  readonly warnings: string[] = [];
  readonly #order: (order: Order) => Promise<string | undefined>;
  #address = '';
  #boots = 0;

  constructor(storage: SteppingStorage, order: (order: Order) => Promise<string | undefined>) {
    this.storage = storage;
    this.name = basename(storage.base);
    this.#order = order;
    this.folder = this.#at('state');
    this.tree = storage.tree;
    this.homes = storage.homes;
    this.boot = this.#at('boot');
    mkdirSync(join(this.boot, 'grub'), { recursive: true });
    for (const file of ['vmlinuz-6.1.0', 'initrd.img-6.1.0', 'grub/grub.cfg'])
      if (!existsSync(join(this.boot, file))) writeFileSync(join(this.boot, file), '');
    writeFileSync(this.#at('policy.yaml'), 'keep: {days: 0, newest: 0, rules: []}\n');
    this.bootWith('ro');
  }

  #at(name: string): string {
    return join(this.storage.base, name);
  }

  /** What the next start finds: another boot with these words besides those that name the root. */
  bootWith(words: string, root = this.storage.rootWord?.() ?? ''): void {
    writeFileSync(this.#at('cmdline'), `${root} ${words}\n`);
    writeFileSync(this.#at('boot_id'), `boot-${this.#boots++}\n`);
  }

  async start(): Promise<void> {
    const settings = {
      ...this.storage.settings,
      STATESVC_MIN_FREE: '0',
      STATESVC_POLICY: this.#at('policy.yaml'),
      STATESVC_CMDLINE_FILE: this.#at('cmdline'),
      STATESVC_BOOT_ID_FILE: this.#at('boot_id'),
      STATESVC_BOOT_LOADER: 'grub',
      STATESVC_BOOT_FOLDER: this.boot,
    };
    this.#address =
      (await this.#order({ do: 'start', name: this.name, folder: this.folder, settings })) ?? '';
  }

  /** Stops the daemon in good order and starts it again. */
  async restart(): Promise<void> {
    await this.#order({ do: 'stop', name: this.name });
    await this.start();
  }

  async watch(mode: Ending, passing: readonly string[]): Promise<void> {
    await this.#written();
    await this.#watch(mode, passing);
  }

  /** The same for the start of a daemon that was killed, which left things open. */
  async watchStart(passing: readonly string[]): Promise<void> {
    await this.#watch('stop', passing);
  }

  async #watch(mode: Ending, passing: readonly string[]): Promise<void> {
    await this.#order({ do: 'watch', name: this.name, mode, passing, beside: this.storage.beside?.source });
  }

  /** What ended before is written down, which nobody waits for; but for a removal that has stopped. */
  async #written(): Promise<void> {
    const journal = join(this.folder, 'journal.jsonl');
    const isOpen = () => {
      const open = new Set<string>();
      for (const line of existsSync(journal)
        ? readFileSync(journal, 'utf8').split('\n').filter(Boolean)
        : []) {
        const { event, id, intent } = JSON.parse(line) as {
          event: string;
          id: string;
          intent: { id: string };
        };
        if (event === 'begun') open.add(intent.id);
        else open.delete(id);
      }
      return open.size > 0;
    };
    for (let waited = 0; isOpen() && waited < 2000; waited += 10) await setTimeout(10);
  }

  async unwatch(): Promise<void> {
    await this.#order({ do: 'unwatch', name: this.name });
  }

  call(operation: string, request: object = {}): Promise<Answer> {
    return callAt(this.#address, operation, request);
  }

  /** The same for an operation of `StateExtras`. */
  extra(operation: string, request: object = {}): Promise<Answer> {
    return callExtra(this.#address, operation, request);
  }

  /** A state and those of its users as Export gives them. */
  exported(stateName: string): Promise<Buffer> {
    return exported(this.#address, { stateName, users: true });
  }

  import(bytes: Buffer, stateName: string): Promise<Answer> {
    return importBytes(this.#address, bytes, stateName);
  }

  /** For what has to work. */
  async must(operation: string, request: object = {}): Promise<Answer> {
    const answer = await this.call(operation, request);
    if (answer.code !== 0) throw new Error(`${this.name}: ${operation}: ${answer.code} ${answer.details}`);
    return answer;
  }

  async dump(): Promise<Dump> {
    const { results } = await this.must('DumpStates');
    return JSON.parse(results.map(({ states }) => states).join('')) as Dump;
  }

  /** Puts files into a folder in place of what is there. */
  fill(folder: string, files: Record<string, string>): void {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  }

  /** What the files below a folder hold. */
  contents(folder: string): Record<string, string> {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return Object.fromEntries(
      names
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
        .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
    );
  }
}
