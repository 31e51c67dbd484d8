import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert } from 'vitest';
import { type Answer, callAt, type Dump } from '../daemon.ts';
import { exported, importBytes } from '../extras-client.ts';
import type { SteppingHosts } from '../stepping-hosts.ts';
import type { OpenedStorage } from './fixture.ts';

/** What a machine of that kind needs to know of its storage. */
export interface SteppingStorage
  extends Pick<OpenedStorage, 'settings' | 'folder' | 'homesFolder' | 'rootWord'> {
  /** A folder of its own, by whose name the machine goes. */
  readonly base: string;
  /** The folder in which the live datasets lie. */
  readonly live: string;
  /** Snapshots that are there, as members of states name them. */
  snapshots(): string[];
  /** Whatever of an operation is left that nobody needs. */
  unfinished(): string[];
}

/** A daemon on an image, in a process that is killed and started again. */
export class SteppingMachine {
  readonly storage: SteppingStorage;
  readonly name: string;
  readonly #hosts: SteppingHosts;
  #address = '';
  #boots = 0;

  constructor(storage: SteppingStorage, hosts: SteppingHosts) {
    this.storage = storage;
    this.name = basename(storage.base);
    this.#hosts = hosts;
    this.bootWith('ro');
  }

  bootWith(line: string): void {
    const root = this.storage.rootWord?.() ?? '';
    writeFileSync(join(this.storage.base, 'cmdline'), `${root} ${line}\n`);
    writeFileSync(join(this.storage.base, 'boot_id'), `boot-${this.#boots++}\n`);
  }

  async start(): Promise<void> {
    const { storage, name } = this;
    await this.#hosts.start([]);
    const settings = {
      ...storage.settings,
      STATESVC_MIN_FREE: '0',
      STATESVC_POLICY: '/nonexistent',
      STATESVC_CMDLINE_FILE: join(storage.base, 'cmdline'),
      STATESVC_BOOT_ID_FILE: join(storage.base, 'boot_id'),
      STATESVC_BOOT_LOADER: 'none',
    };
    this.#address = (await this.#hosts.order({ do: 'start', name, folder: storage.folder, settings })) ?? '';
  }

  /** Kills it; what it ran by then comes to its end. */
  async restart(): Promise<void> {
    await this.#hosts.kill();
    await this.start();
  }

  /** @returns the step before which it was stopped, or the answer */
  async callUntil(passing: readonly string[], operation: string, request: object): Promise<Answer | string> {
    const stopped = this.#hosts.ended(this.name);
    await this.#hosts.order({ do: 'watch', name: this.name, mode: 'stop', passing });
    return await Promise.race([this.call(operation, request), stopped]);
  }

  /** @param request of an import: its name here, and all of its content */
  call(operation: string, request: object = {}): Promise<Answer> {
    if (operation !== 'Import') return callAt(this.#address, operation, request);
    const { stateName, content } = request as { stateName: string; content: Buffer };
    return importBytes(this.#address, content, stateName);
  }

  /** A state and those of its users as Export gives them. */
  exported(stateName: string): Promise<Buffer> {
    return exported(this.#address, { stateName, users: true });
  }

  async must(operation: string, request: object = {}): Promise<Answer> {
    const answer = await this.call(operation, request);
    assert.equal(answer.code, 0, `${operation}: ${answer.details}`);
    return answer;
  }

  async dump(): Promise<Dump> {
    return JSON.parse((await this.must('DumpStates')).results.map(({ states }) => states).join('')) as Dump;
  }

  async names(): Promise<string[]> {
    const { machines } = await this.dump();
    return (machines[0]?.states ?? []).map(({ user, name }) => `${user ?? 'system'} ${name}`).sort();
  }

  /** What a file of a live dataset holds; undefined when it is not there. */
  read(path: string): string | undefined {
    const file = join(this.storage.live, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  write(path: string, content: string): void {
    const file = join(this.storage.live, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
  }

  /** The storage holds what the daemon knows, and nothing besides. */
  async checkClean(at: string): Promise<void> {
    const { machines } = await this.dump();
    const states = machines[0]?.states ?? [];
    const known = states.flatMap(({ members }) => members.map(({ snapshot }) => snapshot));
    assert.deepEqual(this.storage.snapshots().sort(), known.sort(), at);
    assert.equal(
      states.some(({ partial }) => partial),
      false,
      at,
    );
    assert.deepEqual(this.storage.unfinished(), [], at);
    assert.match((await this.must('Refresh')).lines.at(-1) ?? '', /nothing differed/, at);
  }
}
