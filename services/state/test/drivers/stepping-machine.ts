import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert } from 'vitest';
import { type Answer, callAt, type Dump } from '../daemon.ts';
import type { SteppingHosts } from '../stepping-hosts.ts';
import { type BtrfsImage, run } from './btrfs-image.ts';

/** A daemon on an image, in a process that is killed and started again. */
export class SteppingMachine {
  readonly storage: BtrfsImage;
  readonly name: string;
  readonly #hosts: SteppingHosts;
  #address = '';
  #boots = 0;

  constructor(storage: BtrfsImage, hosts: SteppingHosts) {
    this.storage = storage;
    this.name = basename(storage.base);
    this.#hosts = hosts;
    this.bootWith('ro');
  }

  bootWith(line: string): void {
    writeFileSync(join(this.storage.base, 'cmdline'), `${line}\n`);
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

  call(operation: string, request: object = {}): Promise<Answer> {
    return callAt(this.#address, operation, request);
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

  /** What a file of a live subvolume holds; undefined when it is not there. */
  read(path: string): string | undefined {
    const file = join(this.storage.root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  write(path: string, content: string): void {
    mkdirSync(join(this.storage.root, path, '..'), { recursive: true });
    writeFileSync(join(this.storage.root, path), content);
  }

  /** The storage holds what the daemon knows, and nothing besides. */
  async checkClean(at: string): Promise<void> {
    const { machines } = await this.dump();
    const known = (machines[0]?.states ?? []).flatMap(({ members }) =>
      members.map(({ snapshot }) => snapshot),
    );
    const listed = run('btrfs', 'subvolume', 'list', '-o', join(this.storage.root, '@states'));
    const there = listed.split('\n').flatMap((line) => / path (.+)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(there.sort(), known.sort(), at);
    assert.equal(
      machines[0]?.states.some(({ partial }) => partial),
      false,
      at,
    );
    const records = readdirSync(join(this.storage.root, '@states/records'));
    assert.deepEqual(
      records.filter((name) => !name.endsWith('.json')),
      [],
      at,
    );
    assert.match((await this.must('Refresh')).lines.at(-1) ?? '', /nothing differed/, at);
  }
}
