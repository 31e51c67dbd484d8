import { setTimeout as sleep } from 'node:timers/promises';
import { notEnoughSpace, storageRefused, storageUnavailable } from '../../../failures.ts';
import type { Ran, RunProgram } from '../../programs.ts';
import { askedFor, type Properties, readProperties } from './read-properties.ts';

/** So many names are given to one command, far below what the system takes. */
const BATCH = 500;
/** Five seconds in all: most of what is busy is so for a moment. */
const BUSY_TRIES = 28;
const BUSY_WAIT_MS = 200;
const FIRST_WAIT_MS = 15;
/** So many are destroyed at once, as each waits for the pool. */
export const AT_ONCE = 8;

const READING = new Set(['get', 'list', 'version']);

/** A dataset and the snapshot it is a clone of. */
export interface Origin {
  readonly name: string;
  readonly origin: string;
}

/**
 * The programs `zfs` and `zpool`. Only what zfs-fuse 0.7 knows as well is used, besides where a comment says so. An exit code is
 * not the truth: who makes or removes something reads afterwards what is there.
 */
export class ZfsCommands {
  readonly #run: RunProgram;
  readonly #timeoutMs: number;
  /** Those that are looked at; empty for all. */
  readonly #pools: readonly string[];
  #modern: Promise<boolean> | undefined;
  #altroots: ReadonlyMap<string, string> = new Map();
  /** Ends with the command that changes mounts now, and those that wait for it. */
  #mounting: Promise<unknown> = Promise.resolve();
  #listed: readonly string[] = [];
  #changes = 0;

  constructor(run: RunProgram, { timeoutMs, pools }: { timeoutMs: number; pools: readonly string[] }) {
    this.#run = run;
    this.#timeoutMs = timeoutMs;
    this.#pools = pools;
  }

  /** OpenZFS since 0.8, which takes several snapshots in one transaction; zfs-fuse does not know the command. */
  isModern(): Promise<boolean> {
    const asked = (this.#modern ??= this.zfs('version').then(({ ok }) => ok));
    // That it did not answer once does not say what it is.
    asked.catch(() => (this.#modern = undefined));
    return asked;
  }

  /**
   * Runs `zfs`; what is busy is tried again for a while, as it may not be any more: zfs-fuse lets go of files a moment after they
   * were closed. What may mount or unmount something waits for its turn: zfs-fuse mixes up what it notes of two file systems that are
   * mounted at once, and answers nobody from then on.
   * @throws UNAVAILABLE when it cannot be run at all or does not end
   */
  async zfs(...args: readonly string[]): Promise<Ran> {
    for (let again = 0; ; again++) {
      const ran = this.#reached(await this.#inTurn(args));
      if (ran.ok || !/\bbusy\b/.test(ran.stderr) || again === BUSY_TRIES) return ran;
      await sleep(Math.min(BUSY_WAIT_MS, FIRST_WAIT_MS * 2 ** again));
    }
  }

  /** How many commands were given so far that may have changed something. */
  get changes(): number {
    return this.#changes;
  }

  #inTurn(args: readonly string[]): Promise<Ran> {
    if (!READING.has(args[0] ?? '')) this.#changes++;
    const ask = () => this.#run('zfs', args, { timeoutMs: this.#timeoutMs });
    if (!changesMounts(args)) return ask();
    const ran = this.#mounting.then(ask);
    this.#mounting = ran.catch(() => {});
    return ran;
  }

  /** Pools that are imported: name, health, and the folder they are mounted below or `-`. */
  async pools(): Promise<readonly { name: string; health: string; altroot: string }[]> {
    const ran = this.#reached(
      await this.#run('zpool', ['list', '-H', '-o', 'name,health,altroot'], { timeoutMs: this.#timeoutMs }),
    );
    if (!ran.ok) throw storageUnavailable(ran.why);
    const all = rows(ran.stdout).flatMap(([name = '', health = '', altroot = '-']) =>
      name === '' || health === '' ? [] : [{ name, health, altroot }],
    );
    return this.#pools.length === 0 ? all : all.filter(({ name }) => this.#pools.includes(name));
  }

  /** Where pools are mounted below a folder; that of one does not change while it is imported. */
  async altroots(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (names.some((name) => !this.#altroots.has(name)))
      this.#altroots = new Map(
        (await this.pools()).map(({ name, altroot }) => [name, altroot === '-' ? '' : altroot]),
      );
    return this.#altroots;
  }

  /** What is known of pools may have changed: they were exported and imported again. */
  forgetPools(): void {
    this.#altroots = new Map();
  }

  /** Names of all file systems and volumes. Snapshots are never asked for: there may be 10,000 of them. */
  async datasets(): Promise<readonly string[]> {
    const ran = await this.zfs('list', '-H', '-o', 'name', '-t', 'filesystem,volume', ...this.#below());
    if (!ran.ok) throw storageUnavailable(ran.why);
    this.#listed = rows(ran.stdout).flatMap(([name = '']) => (name === '' ? [] : [name]));
    return this.#listed;
  }

  /** Properties of all file systems and volumes, those that were there the last time while they are listed anew. */
  async allProperties(properties: readonly string[]): Promise<ReadonlyMap<string, Properties>> {
    const [names, known] = await Promise.all([this.datasets(), this.properties(this.#listed, properties)]);
    const unknown = names.filter((name) => !known.has(name));
    const found = new Map([...known, ...(await this.properties(unknown, properties))]);
    return new Map(names.flatMap((name) => (found.has(name) ? [[name, found.get(name) as Properties]] : [])));
  }

  /** What is a clone of what. */
  async origins(): Promise<readonly Origin[]> {
    const ran = await this.zfs(
      'list',
      '-H',
      '-o',
      'name,origin',
      '-t',
      'filesystem,volume',
      ...this.#below(),
    );
    if (!ran.ok) throw storageUnavailable(ran.why);
    return rows(ran.stdout).map(([name = '', origin = '-']) => ({ name, origin }));
  }

  /** Names of the snapshots of some datasets, without those of what lies below. */
  async snapshotsOf(datasets: readonly string[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const batch of batches(datasets)) {
      const { stdout } = await this.zfs(
        'list',
        '-H',
        '-o',
        'name',
        '-t',
        'snapshot',
        '-r',
        '-d',
        '1',
        ...batch,
      );
      found.push(...rows(stdout).flatMap(([name = '']) => (name.includes('@') ? [name] : [])));
    }
    return found;
  }

  /**
   * Exact properties of datasets or snapshots, `guid` always among them; those that are not there are not in the answer.
   * @throws FAILED_PRECONDITION when somebody has written what cannot be told from the answer of zfs
   */
  async properties(
    names: readonly string[],
    properties: readonly string[],
  ): Promise<Map<string, Properties>> {
    const found = new Map<string, Properties>();
    const asked = askedFor(properties);
    const all = [...new Set(names)];
    for (const batch of batches(all)) {
      const { stdout } = await this.zfs(
        'get',
        '-H',
        '-p',
        '-o',
        'name,property,value,source',
        asked.join(','),
        ...batch,
      );
      for (const [name, each] of readProperties(stdout, new Set(batch), asked)) found.set(name, each);
    }
    // zfs has an order of its own.
    const isThere = (name: string) => found.has(name);
    return new Map(all.filter(isThere).map((name) => [name, found.get(name) as Properties]));
  }

  /** Destroys snapshots, at most {@link AT_ONCE}: each to its end, so that none comes after the answer or an undo. */
  destroyAtOnce(names: readonly string[]): Promise<readonly PromiseSettledResult<Ran>[]> {
    return Promise.allSettled(names.map((name) => this.zfs('destroy', name)));
  }

  /** Whether a dataset is mounted, wherever that is. */
  async isMounted(name: string): Promise<boolean> {
    return (await this.properties([name], ['mounted'])).get(name)?.get('mounted')?.value === 'yes';
  }

  /** Sets one property, in the order of the names; zfs-fuse takes no second property. */
  async set(names: string | readonly string[], property: string, value: string): Promise<void> {
    const all = [names].flat();
    const ran = await this.zfs('set', `${property}=${value}`, ...all);
    this.#check(ran, `${property} of ${all[0]} could not be set`);
  }

  /** Takes a property of ours away; one that is not there is no failure. */
  async unset(name: string, property: string): Promise<void> {
    this.#check(await this.zfs('inherit', property, name), `${property} of ${name} could not be removed`);
  }

  /** @throws the failure that fits what a command said, unless it ended well */
  #check(ran: Ran, what: string): void {
    if (!ran.ok) throw refusal(what, ran);
  }

  #below(): readonly string[] {
    return this.#pools.length === 0 ? [] : ['-r', ...this.#pools];
  }

  #reached(ran: Ran): Ran {
    const gone =
      /not installed|did not end|failed to initialize ZFS|modules? (?:are|is) not loaded|\/dev\/zfs|I\/O is currently suspended|Connection reset by peer/;
    if (!ran.ok && gone.test(`${ran.why}\n${ran.stderr}`)) throw storageUnavailable(ran.why);
    return ran;
  }
}

function changesMounts([command = '', first = '']: readonly string[]): boolean {
  if (command === 'destroy') return !first.includes('@');
  if (command === 'set') return /^(?:mountpoint|canmount)=/.test(first);
  return ['clone', 'create', 'mount', 'unmount'].includes(command);
}

/** What a command that did not do its work means for the caller. */
export function refusal(what: string, { stderr, why }: Ran): Error {
  return /out of space|No space left|quota exceeded/i.test(stderr)
    ? notEnoughSpace('the pool', 'too little', 'more')
    : storageRefused(what, why);
}

/** The pool of a dataset or snapshot. */
export function poolOf(name: string): string {
  return name.split(/[/@]/, 1)[0] as string;
}

/** The dataset of a snapshot. */
export function datasetOf(snapshot: string): string {
  return snapshot.split('@', 1)[0] as string;
}

/** A dataset is another one or lies below it. */
export function isWithin(name: string, root: string): boolean {
  return name === root || name.startsWith(`${root}/`);
}

function rows(text: string): string[][] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')]));
}

/** Names for one command each. */
export function batches(names: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / BATCH);
  return Array.from({ length: count }, (_, at) => names.slice(at * BATCH, (at + 1) * BATCH));
}
