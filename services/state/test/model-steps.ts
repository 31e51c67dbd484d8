import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { counted } from '../src/rules/machines/sizes.ts';
import { type Answer, type Daemon, type DumpedState, startDaemon, temporaryFolder } from './daemon.ts';
import type { DumpedMember, OpenedStorage } from './drivers/fixture.ts';
import type { Files, Model } from './plain-model.ts';

/** Where homes may be. */
export const PLACES = ['p0', 'p1', 'p2'] as const;

/** The daemon and its storage. */
export class Real {
  readonly storage: OpenedStorage;
  readonly #base = temporaryFolder();
  #daemon: Daemon | undefined;
  #boots = 0;

  constructor(storage: OpenedStorage) {
    this.storage = storage;
    writeFileSync(join(this.#base, 'policy'), 'keep: {days: 0, newest: 0, rules: []}\n');
  }

  get daemon(): Daemon {
    return this.#daemon as Daemon;
  }

  path(place: string): string {
    return place === 'tree' ? this.storage.systemPath : join(this.storage.homesFolder, place);
  }

  async start(commandLine?: string): Promise<void> {
    await this.#daemon?.service.close(0);
    const bootId = join(this.#base, 'boot-id');
    writeFileSync(bootId, `boot-${this.#boots++}\n`);
    const cmdline = join(this.#base, 'cmdline');
    writeFileSync(cmdline, `${commandLine}\n`);
    const { storage } = this;
    this.#daemon = await startDaemon({
      folder: storage.folder,
      tree: storage.systemPath,
      settings: {
        ...storage.settings,
        STATESVC_POLICY: join(this.#base, 'policy'),
        STATESVC_BOOT_ID_FILE: bootId,
        ...(commandLine === undefined ? {} : { STATESVC_CMDLINE_FILE: cmdline }),
      },
    });
  }

  async close(): Promise<void> {
    await this.#daemon?.service.close(0);
    await this.storage.close();
  }

  async states(): Promise<readonly DumpedState[]> {
    return (await this.daemon.dump()).machines[0]?.states ?? [];
  }
}

/** What the files below a folder hold; undefined when it is not there. */
export function filesIn(folder: string): Files | undefined {
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

/** Makes a call that must end with a code. */
async function call(real: Real, name: string, request: object, code: number): Promise<Answer> {
  const answer = await real.daemon.call(name, request);
  expect([name, request, answer.details, answer.code]).toEqual([name, request, answer.details, code]);
  return answer;
}

/** The daemon says what the model says, the storage what the daemon says, and the folders are as they should be. */
export async function compare(model: Model, real: Real): Promise<void> {
  const line = (one: { user: string | null; name: string; automatic: boolean }) =>
    `${one.user ?? '-'} ${one.name} ${one.automatic}`;
  expect((await real.states()).map(line).sort()).toEqual(model.states.map(line).sort());
  const { homes } = await real.daemon.dump();
  expect(homes.map(({ user, path, machines }) => [user, path, machines.length])).toEqual(
    [...model.homes].sort().map(([user, { place, linked }]) => [user, real.path(place), linked ? 1 : 0]),
  );
  expect((await call(real, 'Refresh', {}, 0)).lines).toEqual([
    `nothing differed: ${counted(model.states.length, 'state')}`,
  ]);
  expect(filesIn(real.storage.systemPath)).toEqual(model.system);
  for (const place of PLACES)
    expect([place, filesIn(real.path(place))]).toEqual([place, model.places[place]]);
}

/** Every state holds what its folder held. */
export async function compareContent(model: Model, real: Real): Promise<void> {
  const states = await real.states();
  for (const one of model.states) {
    const state = states.find(({ name, user }) => name === one.name && user === one.user) as DumpedState;
    expect([one, state.partial]).toEqual([one, one.files === undefined]);
    const [member] = state.members as [DumpedMember];
    expect(filesIn(await real.storage.contentOf(member))).toEqual(one.files ?? {});
  }
}

/** One call: what the model says it comes to, and what it came to. */
export type Step = (model: Model, real: Real) => Promise<void>;

export const write = (where: string, file: string, content: string | undefined): Step => {
  return async (model, real) => {
    const files = where === 'tree' ? model.system : model.places[where];
    if (files === undefined) return;
    const path = join(real.path(where), file);
    if (content === undefined) {
      rmSync(path, { force: true });
      delete files[file];
    } else {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, content);
      files[file] = content;
    }
  };
};

export const save = (user: string | null, name: string): Step => {
  return async (model, real) => {
    const home = user === null ? undefined : model.homes.get(user);
    const isMissing = home !== undefined && model.places[home.place] === undefined;
    const code =
      user !== null && home?.linked !== true
        ? 5
        : name !== '' && model.isTaken(name, user)
          ? 6
          : isMissing
            ? 9
            : 0;
    const request = user === null ? { stateName: name } : { userName: user, stateName: name };
    const answer = await call(real, user === null ? 'SaveSystemState' : 'SaveUserState', request, code);
    if (code === 0) model.save(user, String(answer.results[0]?.['stateName']), name === '');
  };
};

export const remove = (user: string | null, name: string, force: boolean): Step => {
  return async (model, real) => {
    const state = model.find(user, name);
    const isPart =
      user !== null &&
      state?.ofMachine === true &&
      model.states.some((one) => one.group === state.group && one.user === null);
    const code = state === undefined ? 5 : isPart && !force ? 9 : 0;
    const request = { stateName: name, force, ...(user === null ? {} : { userName: user }) };
    await call(real, user === null ? 'RemoveSystemState' : 'RemoveUserState', request, code);
    if (code !== 0 || state === undefined) return;
    model.states = model.states.filter((one) => (user === null ? one.group !== state.group : one !== state));
  };
};

export const collect = (all: boolean): Step => {
  return async (model, real) => {
    await call(real, 'GC', { all }, 0);
    model.states = model.states.filter(({ automatic }) => !all && !automatic);
  };
};

export const create = (user: string, place: string): Step => {
  return async (model, real) => {
    const code = model.isInTheWay(place, user) ? 6 : 0;
    await call(real, 'CreateUserData', { user, homepath: real.path(place) }, code);
    if (code !== 0) return;
    const home = model.homes.get(user);
    const canMove =
      home !== undefined &&
      home.place !== place &&
      !model.isInTheWay(home.place, user) &&
      !model.isFull(place) &&
      model.places[home.place] !== undefined;
    if (canMove) model.move(user, home.place, place);
    else {
      model.places[place] ??= {};
      model.homes.set(user, { place, linked: true });
    }
  };
};

export const move = (from: string, to: string): Step => {
  return async (model, real) => {
    const [user] = model.linked().find(([, place]) => place === from) ?? [];
    const code =
      user === undefined
        ? 5
        : model.isInTheWay(to, user)
          ? 6
          : from !== to && (model.places[from] === undefined || model.isFull(to))
            ? 9
            : 0;
    await call(real, 'ChangeHomeOnUserData', { home: real.path(from), newHome: real.path(to) }, code);
    if (code === 0 && user !== undefined && from !== to) model.move(user, from, to);
  };
};

export const dissociate = (user: string, removeHome: boolean): Step => {
  return async (model, real) => {
    const home = model.homes.get(user);
    await call(real, 'DissociateUser', { user, removeHome }, home?.linked === true ? 0 : 5);
    if (home?.linked !== true) return;
    model.homes.set(user, { ...home, linked: false });
    if (removeHome && model.places[home.place] !== undefined) model.places[home.place] = {};
  };
};

export const lose = (user: string): Step => {
  return async (model, real) => {
    const place = model.homes.get(user)?.place;
    if (place === undefined) return;
    rmSync(real.path(place), { recursive: true, force: true });
    model.places[place] = undefined;
  };
};

export const goBack = (name: string, users: boolean): Step => {
  return async (model, real) => {
    const state = model.find(null, name);
    if (state === undefined) return;
    const before = await real.states();
    const id = before.find((one) => one.name === name && one.user === null)?.id;
    await real.start(`statesvc.state=${id}${users ? ' statesvc.revert=userdata' : ''}`);
    // What the machine was booted from stays.
    await call(real, 'RemoveSystemState', { stateName: name, force: true }, 9);
    await call(real, 'PrepareBoot', {}, 0);
    await call(real, 'CommitBoot', {}, 0);
    const made = (await real.states()).find(
      (one) => one.user === null && !before.some(({ id: old }) => old === one.id),
    );
    model.save(null, made?.name ?? '', true);
    model.system = { ...state.files };
    for (const [user, place] of users ? model.linked() : []) {
      const then = model.states.find((one) => one.group === state.group && one.user === user);
      if (then?.files !== undefined) model.places[place] = { ...then.files };
    }
    await real.start();
  };
};
