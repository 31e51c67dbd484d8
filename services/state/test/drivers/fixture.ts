import { skipWithout } from '@croft/testing';
import { onTestFinished, type TestContext } from 'vitest';
import { type Daemon, type DaemonOptions, type Dump, type DumpedState, startDaemon } from '../daemon.ts';

/** A member of a state as the dump tells it. */
export type DumpedMember = DumpedState['members'][number];

/** One driver's storage, the real thing, in which tests look and change things behind the daemon's back. */
export interface OpenedStorage {
  /** What a daemon is told to use it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where the daemon keeps its own things. */
  readonly folder: string;
  /** The folder that is the machine's system. */
  readonly systemPath: string;
  /** A folder in which homes can be made. */
  readonly homesFolder: string;
  /** A folder with what a member of a state holds, for as long as the test runs. */
  contentOf(member: DumpedMember): Promise<string>;
  /** Everything that is stored: equal before and after means that nothing changed. */
  facts(): Promise<readonly string[]>;
  /** Takes a member out of a state. */
  loseMember(member: DumpedMember): Promise<void>;
  /** Takes away what makes the states of a save complete. */
  loseRecord(state: DumpedState): Promise<void>;
  /** Adds snapshots, or what comes nearest, that no daemon made. */
  addForeign(): Promise<void>;
  /** Uses space until a daemon with these settings has too little of it. */
  runShort(): Promise<Readonly<Record<string, string>>>;
  /** What the kernel is told of its root, where going back to a state is booting another one. */
  rootWord?(member?: DumpedMember): string;
  /** What a reboot does: everything is put away and found again. */
  reopen(): Promise<void>;
  /** Undoes everything. */
  close(): Promise<void>;
}

/** A driver that the suite runs over. */
export interface StorageFixture {
  readonly name: 'vault' | 'btrfs' | 'zfs';
  /** A program or right that this machine does not have; undefined when the driver can be tested. */
  missing(): string | undefined;
  open(): Promise<OpenedStorage>;
}

/** The storage of a test, and daemons on it. */
export interface Host {
  readonly storage: OpenedStorage;
  readonly start: (options?: DaemonOptions) => Promise<Daemon>;
}

/** Opens a storage that is closed with the test; skips the test where that cannot be. */
export async function openHost(context: TestContext, fixture: StorageFixture): Promise<Host> {
  const missing = fixture.missing();
  if (missing !== undefined) skipWithout(context, missing);
  const storage = await fixture.open();
  onTestFinished(() => storage.close());
  return {
    storage,
    start: (options = {}) =>
      startDaemon({
        ...options,
        folder: storage.folder,
        tree: storage.systemPath,
        settings: { ...storage.settings, ...options.settings },
      }),
  };
}

/** A host with a running daemon. */
export async function withDaemon(context: TestContext, fixture: StorageFixture, options?: DaemonOptions) {
  const host = await openHost(context, fixture);
  return { ...host, daemon: await host.start(options) };
}

/** States of the machine that runs, newest first. */
export async function statesOf(daemon: Daemon): Promise<readonly DumpedState[]> {
  return machineOf(await daemon.dump()).states;
}

/** `kind user name`, newest first. */
export async function namesOf(daemon: Daemon): Promise<readonly string[]> {
  return (await statesOf(daemon)).map(({ user, name }) => (user === null ? name : `${user} ${name}`));
}

/** The machine that runs. */
export function machineOf(dump: Dump): Dump['machines'][number] {
  const [machine] = dump.machines;
  if (machine === undefined) throw new Error('there is always a machine that runs');
  return machine;
}

/** A state's member for a dataset's role; the test fails where there is none. */
export async function memberOf(daemon: Daemon, name: string, user: string | null = null) {
  const state = (await statesOf(daemon)).find((one) => one.name === name && one.user === user);
  const member = state?.members[0];
  if (state === undefined || member === undefined) throw new Error(`there is no state ${name}`);
  return { state, member };
}
