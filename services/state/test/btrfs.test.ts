import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartError } from '@croft/runtime';
import { describe, expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { programsIn } from '../src/outside/programs.ts';
import { StatesOnDisk } from '../src/outside/storage/btrfs/states-on-disk.ts';
import { Subvolumes } from '../src/outside/storage/btrfs/subvolumes.ts';
import { type Daemon, startDaemon, temporaryFolder, treeFacts } from './daemon.ts';
import { type BtrfsImage, btrfs, openBtrfs, run } from './drivers/btrfs-image.ts';
import { memberOf, namesOf, openHost, statesOf } from './drivers/fixture.ts';
import { count, countIn } from './drivers/instant-scenarios.ts';

const subvolume = (...args: string[]) => run('btrfs', 'subvolume', ...args);

async function withImage(context: TestContext, options: Parameters<typeof openBtrfs>[0] = {}) {
  const host = await openHost(context, { ...btrfs, open: () => openBtrfs(options) });
  const storage = host.storage as BtrfsImage;
  return { ...host, storage, states: join(storage.root, '@states') };
}

async function withState(context: TestContext) {
  const host = await withImage(context);
  writeFileSync(join(host.storage.systemPath, 'file'), 'good');
  const daemon = await host.start();
  await daemon.save('one');
  const { state, member } = await memberOf(daemon, 'one');
  return { ...host, daemon, state, member, snapshot: join(host.storage.root, member.snapshot) };
}

describe('a save on btrfs', () => {
  it('survives a power cut right after it is answered, unlike what was written beside it', async (context) => {
    const { storage, start, states } = await withImage(context);
    writeFileSync(join(storage.systemPath, 'file'), 'good');
    const daemon = await start();
    const home = { user: 'ada', homepath: join(storage.homesFolder, 'ada') };
    expect((await daemon.call('CreateUserData', home)).code).toBe(0);
    const held = await holdRecords();
    await daemon.save('one');
    const before = await statesOf(daemon);
    expect(before).toHaveLength(2);
    writeFileSync(join(storage.systemPath, 'later'), 'not flushed');
    await storage.losePower(held.release(() => daemon.service.close(0)));
    expect(existsSync(join(storage.systemPath, 'later'))).toBe(false);
    // Nobody had waited for its name, which the kernel may have written all the same.
    rmSync(join(states, `records/${before[0]?.id}.json`), { force: true });
    const again = await start();
    expect(await statesOf(again)).toEqual(before);
    const { member } = await memberOf(again, 'one');
    expect(readFileSync(join(storage.root, member.snapshot, 'file'), 'utf8')).toBe('good');
    // From now on it lasts by itself.
    const [record = ''] = readdirSync(join(states, 'records'));
    await storage.losePower(() => again.service.close(0));
    expect(readdirSync(join(states, 'records'))).toEqual([record]);
    rmSync(storage.folder, { recursive: true });
    expect(await statesOf(await start())).toEqual(before);
  });

  it('of which a power cut takes a snapshot is none', async (context) => {
    const { storage, start, states } = await withImage(context);
    const daemon = await start();
    const held = await holdRecords();
    await daemon.save('one');
    await storage.losePower(held.release(() => daemon.service.close(0)));
    const [save = ''] = readdirSync(states).filter((name) => name.length === 36);
    subvolume('delete', join(states, save, 'system'));
    rmSync(join(states, `records/${save}.json`), { force: true });
    const again = await start();
    expect(await statesOf(again)).toEqual([]);
    expect(readdirSync(states).filter((name) => name.length === 36)).toEqual([]);
    expect(await again.save('one')).toBe('one');
  });
});

describe('a removal on btrfs', () => {
  it('survives a power cut right after it is answered', async (context) => {
    const { storage, start, daemon, states, state } = await withState(context);
    await untilItLasts(daemon);
    const held = await holdRecords();
    storage.keepDisk();
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    expect(await statesOf(daemon)).toEqual([]);
    await storage.losePower(held.release(() => daemon.service.close(0)));
    expect(readdirSync(join(states, 'records'))).toEqual([`${state.id}.json`]);
    const again = await start();
    expect(await statesOf(again)).toEqual([]);
    expect(readdirSync(join(states, 'records'))).toEqual([]);
    expect(readdirSync(states)).not.toContain(state.id);
    await storage.losePower(() => again.service.close(0));
    expect(readdirSync(join(states, 'records'))).toEqual([]);
  });
});

/** A save is written down as ended when its record cannot be lost any more. */
async function untilItLasts({ folder }: Daemon): Promise<void> {
  await expect.poll(() => readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toContain('"event":"saved"');
}

/** Flushes of the folder of records wait, and so does what waits for them. */
async function holdRecords() {
  const handle = await open('/dev/null');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the handle it is called on
  const { sync } = prototype;
  const gate = Promise.withResolvers<void>();
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if (readlinkSync(`/proc/self/fd/${this.fd}`).endsWith('/records')) await gate.promise;
    await sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return {
    /** They go on with something that is done. */
    release: (then: () => Promise<unknown>) => async () => {
      gate.resolve();
      await then();
    },
  };
}

describe('a member of a state on btrfs', () => {
  it('is known by its uuid: another subvolume in its place is left alone', async (context) => {
    const { daemon, storage, snapshot } = await withState(context);
    subvolume('delete', snapshot);
    subvolume('snapshot', '-r', join(storage.root, '@'), snapshot);
    // Of a way back or a home that is being made: looking at what is there while others write deletes nothing of theirs.
    subvolume('create', join(storage.root, '@states/work/under-way'));
    const before = await storage.facts();
    const answer = await daemon.call('RemoveSystemState', { stateName: 'one' });
    expect(answer).toMatchObject({ code: 10, results: [] });
    expect(await storage.facts()).toEqual(before);
    expect(await namesOf(daemon)).toEqual(['one']);
    // Once it is known, the state is partial, goes when it is removed, and what is in its place stays.
    const { lines } = await daemon.call('Refresh');
    expect(readdirSync(join(storage.root, '@states/work'))).toEqual([]);
    expect(lines.join('\n')).toMatch(/btrfs:@@one \(.+\) is no longer whole in the storage/);
    expect((await statesOf(daemon))[0]).toMatchObject({ name: 'one', partial: true });
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    expect(statSync(snapshot).ino).toBe(256);
    expect(await namesOf(daemon)).toEqual([]);
  });

  it('is not deleted as garbage when its record comes late, and neither is what took its place', async (context) => {
    const { storage, daemon, state, snapshot } = await withState(context);
    await daemon.service.close(0);
    const open = () => new StatesOnDisk(new Subvolumes(storage.root, programsIn(process.env['PATH'] ?? '')));
    const record = join(storage.root, `@states/records/${state.id}.json`);
    const content = readFileSync(record);
    rmSync(record);
    const [late, replaced] = [open(), open()];
    for (const each of [late, replaced]) expect((await each.scan()).leftovers).toEqual([state.id]);
    writeFileSync(record, content);
    expect(await late.collect()).toBe(0);
    expect(statSync(snapshot).ino).toBe(256);
    rmSync(record);
    subvolume('delete', snapshot);
    subvolume('snapshot', '-r', join(storage.root, '@'), snapshot);
    expect(await replaced.collect()).toBe(0);
    expect(statSync(snapshot).ino).toBe(256);
    // What nobody needs goes all the same.
    const last = open();
    await last.scan();
    expect(await last.collect()).toBe(1);
    expect(existsSync(dirname(snapshot))).toBe(false);
  });

  it('that was sent and received is another one', async (context) => {
    const { daemon, storage, snapshot, start } = await withState(context);
    const copies = join(storage.root, 'copies');
    mkdirSync(copies);
    const stream = join(storage.base, 'stream');
    run('btrfs', '-q', 'send', '-f', stream, snapshot);
    run('btrfs', '-q', 'receive', '-f', stream, copies);
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 1 state']);
    await daemon.service.close(0);
    // A copy in its place has what it had, and another identity.
    subvolume('delete', snapshot);
    run('btrfs', '-q', 'receive', '-f', stream, join(snapshot, '..'));
    const again = await start();
    expect((await statesOf(again))[0]).toMatchObject({ name: 'one', partial: true });
    expect((await again.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    expect(readFileSync(join(copies, 'system/file'), 'utf8')).toBe('good');
    expect(readFileSync(join(snapshot, 'file'), 'utf8')).toBe('good');
  });

  it('that can be written to is nothing to go back to', async (context) => {
    const { daemon, storage, state, snapshot, start } = await withState(context);
    run('btrfs', 'property', 'set', snapshot, 'ro', 'false');
    writeFileSync(join(snapshot, 'file'), 'forged');
    await daemon.service.close(0);
    const cmdline = join(storage.base, 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${state.id}`);
    const again = await start({ settings: { STATESVC_CMDLINE_FILE: cmdline } });
    expect((await statesOf(again))[0]).toMatchObject({ name: 'one', partial: true });
    const before = treeFacts(storage.systemPath);
    expect(await again.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
    expect(treeFacts(storage.systemPath)).toEqual(before);
  });

  it('without a record is garbage, read-only or not, and so is one that a crash brought back', async (context) => {
    const { daemon, storage, states, start } = await withState(context);
    const before = await storage.facts();
    await daemon.service.close(0);
    for (const [id, ...options] of [
      ['11111111-1111-4111-8111-111111111111', '-r'],
      ['22222222-2222-4222-8222-222222222222'],
    ] as const) {
      mkdirSync(join(states, id));
      subvolume('snapshot', ...options, join(storage.root, '@'), join(states, id, 'system'));
    }
    mkdirSync(join(states, '33333333-3333-4333-8333-333333333333'));
    subvolume('create', join(states, 'work/interrupted'));
    const again = await start();
    expect(await storage.facts()).toEqual(before);
    expect(
      readdirSync(states).filter((name) => /^\d{8}-/.test(name) && !before.join().includes(name)),
    ).toEqual([]);
    expect(await namesOf(again)).toEqual(['one']);
  });

  it.for(['synced', 'named'] as const)('has in their order the writes that were %s', async (way, context) => {
    const { storage, start } = await withImage(context);
    const daemon = await start();
    await count(way, [join(storage.systemPath, 'a/b'), join(storage.systemPath, 'c')]);
    for (let save = 0; save < 10; save++) await daemon.save();
    const counts = (await statesOf(daemon)).map(({ members }) => {
      const content = join(storage.root, members[0]?.snapshot ?? '');
      return [countIn(join(content, 'a/b')), countIn(join(content, 'c'))] as const;
    });
    for (const [first, second] of counts) expect([0, 1]).toContain(first - second);
    expect(new Set(counts.map(([first]) => first)).size).toBeGreaterThan(5);
  });

  it('does not hold the subvolumes in it, and the save says so', async (context) => {
    const { storage, start } = await withImage(context);
    subvolume('create', join(storage.systemPath, 'machines'));
    writeFileSync(join(storage.systemPath, 'machines/file'), 'x');
    const daemon = await start();
    const { code, lines } = await daemon.call('SaveSystemState', { stateName: 'nested' });
    expect(code).toBe(0);
    expect(lines).toContain(
      `warning: ${storage.systemPath}/machines is a subvolume of its own and was left out`,
    );
    const { member } = await memberOf(daemon, 'nested');
    expect(readdirSync(join(storage.root, member.snapshot, 'machines'))).toEqual([]);
  });
});

describe('subvolumes in what goes back', () => {
  async function goingBack(context: TestContext, change: (storage: BtrfsImage) => void) {
    const { daemon, storage, state, start } = await withState(context);
    mkdirSync(join(storage.systemPath, 'var'));
    await daemon.save('with-var');
    const { state: wanted } = await memberOf(daemon, 'with-var');
    change(storage);
    await daemon.service.close(0);
    const cmdline = join(storage.base, 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${wanted.id}`);
    const booted = await start({ settings: { STATESVC_CMDLINE_FILE: cmdline } });
    return { storage, state, start, booted };
  }

  it('move along', async (context) => {
    const { storage, booted, start } = await goingBack(context, ({ systemPath }) => {
      writeFileSync(join(systemPath, 'file'), 'bad');
      subvolume('create', join(systemPath, 'var/machines'));
      writeFileSync(join(systemPath, 'var/machines/file'), 'precious');
      subvolume('create', join(systemPath, 'top'));
      subvolume('create', join(systemPath, 'top/deep'));
      writeFileSync(join(systemPath, 'top/deep/file'), 'precious, too');
    });
    expect(await booted.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
    await booted.service.close(0);
    await storage.reopen();
    const now = (name: string) => readFileSync(join(storage.systemPath, name), 'utf8');
    expect([now('file'), now('var/machines/file'), now('top/deep/file')]).toEqual([
      'good',
      'precious',
      'precious, too',
    ]);
    await start();
    expect(readdirSync(join(storage.root, '@states/work'))).toEqual([]);
  });

  it.for<[string, (systemPath: string) => void]>([
    [
      'have no folder there',
      (systemPath) => {
        mkdirSync(join(systemPath, 'since'));
        subvolume('create', join(systemPath, 'since/made'));
      },
    ],
    [
      'cannot be moved',
      (systemPath) => {
        subvolume('snapshot', '-r', systemPath, join(systemPath, 'var/read-only'));
      },
    ],
    [
      'have a name that hides them',
      (systemPath) => {
        subvolume('create', join(systemPath, 'x\nID 300 gen 1 top level 256 path y'));
      },
    ],
  ])('that %s keep it from going back, and nothing changes', async ([, make], context) => {
    const { storage, booted } = await goingBack(context, ({ systemPath }) => make(systemPath));
    // The generation moves with every sync.
    const facts = () => [
      treeFacts(storage.systemPath),
      subvolume('list', '-o', join(storage.root, '@')).replace(/ gen \d+ /g, ' '),
    ];
    const before = facts();
    const answer = await booted.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 9, results: [] });
    expect(answer.details).toMatch(/would be lost/);
    expect(facts()).toEqual(before);
    expect(readdirSync(join(storage.root, '@states/work'))).toEqual([]);
  });
});

it('what is done between two calls of PrepareBoot is kept', async (context) => {
  const { storage, start } = await withImage(context);
  const settings = { STATESVC_CMDLINE_FILE: join(storage.base, 'cmdline') };
  const inTheWay = join(storage.systemPath, 'var/read-only');
  mkdirSync(dirname(inTheWay));
  const first = await start();
  await first.save('good');
  const { state } = await memberOf(first, 'good');
  await first.service.close(0);
  subvolume('snapshot', '-r', storage.systemPath, inTheWay);
  writeFileSync(settings.STATESVC_CMDLINE_FILE, `statesvc.state=${state.id}`);
  const booted = await start({ settings });
  expect(await booted.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
  const [saved] = await namesOf(booted);
  writeFileSync(join(storage.systemPath, 'work'), 'precious');
  subvolume('delete', inTheWay);
  expect(await booted.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
  const [since = ''] = await namesOf(booted);
  expect(await namesOf(booted)).toEqual([since, saved, 'good']);
  const { member } = await memberOf(booted, since);
  await booted.service.close(0);
  await storage.reopen();
  expect(existsSync(join(storage.systemPath, 'work'))).toBe(false);
  expect(readFileSync(join(storage.root, member.snapshot, 'work'), 'utf8')).toBe('precious');
});

describe('what is left out of a state', () => {
  it('is told, whatever names others give to subvolumes', async (context) => {
    const { storage, start } = await withImage(context);
    const daemon = await start();
    // The folder and the subvolume in it make a line in the list like that of another home.
    const line = `ID 999 gen 1 top level 5 parent_uuid - uuid ${crypto.randomUUID()} path @home`;
    mkdirSync(join(storage.homesFolder, `x\n${line}`));
    subvolume('create', join(storage.homesFolder, `x\n${line}/ada`));
    const home = join(storage.homesFolder, 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: home });
    subvolume('create', join(home, 'nested'));
    const { lines } = await daemon.call('SaveSystemState', { stateName: 'one' });
    expect(lines.join('\n')).toContain(`${home}/nested is a subvolume of its own and was left out`);
  });
});

describe('attack: a user makes subvolumes without end in his home', () => {
  it('so that a list of all has no end, and the machine and the homes are saved', async (context) => {
    const { storage, start } = await withImage(context);
    const programs = temporaryFolder();
    // Of all, and of those in the home of eve.
    const script = `#!/bin/sh
case "$*" in
  *" -o "*@home/eve) ;;
  *" -o "*) PATH=${process.env['PATH']} exec btrfs "$@" ;;
  *" list "*) ;;
  *) PATH=${process.env['PATH']} exec btrfs "$@" ;;
esac
exec yes "ID 999 gen 1 top level 5 uuid ${crypto.randomUUID()} path @home/eve/x"
`;
    writeFileSync(join(programs, 'btrfs'), script, { mode: 0o755 });
    const daemon = await start({ settings: { STATESVC_SEARCH_PATH: `${programs}:${process.env['PATH']}` } });
    for (const user of ['ada', 'eve'])
      await daemon.call('CreateUserData', { user, homepath: join(storage.homesFolder, user) });
    for (const user of ['ada', 'eve']) subvolume('create', join(storage.homesFolder, `${user}/nested`));
    const answer = await daemon.call('SaveSystemState', { stateName: 'one' });
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'one' }] });
    const said = answer.lines.join('\n');
    expect(said).toContain(`${storage.homesFolder}/ada/nested is a subvolume of its own and was left out`);
    expect(said).toContain(`subvolumes in ${storage.homesFolder}/eve could not be listed and were left out`);
    expect(await namesOf(daemon)).toEqual(['one', 'ada one', 'eve one']);
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
  });

  it('and no more of them are told than somebody reads', async (context) => {
    const { storage, start } = await withImage(context);
    const daemon = await start();
    const home = join(storage.homesFolder, 'eve');
    await daemon.call('CreateUserData', { user: 'eve', homepath: home });
    for (let at = 0; at < 25; at++) subvolume('create', join(home, `s${at}`));
    const { lines } = await daemon.call('SaveSystemState', { stateName: 'one' });
    expect(lines.filter((line) => line.includes(`${home}/s`))).toHaveLength(20);
    expect(lines).toContain(`warning: and 5 more of ${home}`);
  });
});

describe('a btrfs', () => {
  it('that is full refuses to save, leaves nothing, and takes removals', async (context) => {
    const { daemon, storage } = await withState(context);
    const fill = (name: string, size: number) => {
      try {
        for (let at = 0; ; at++)
          writeFileSync(join(storage.systemPath, `${name}${at}`), Buffer.alloc(size, name));
      } catch {
        run('btrfs', 'filesystem', 'sync', storage.root);
      }
    };
    for (const size of [16_000_000, 1_000_000, 10_000, 1000, 100]) fill(`filler-${size}-`, size);
    const before = await storage.facts();
    const answer = await daemon.call('SaveSystemState', { stateName: 'no-room' });
    expect(answer).toMatchObject({ code: 8, results: [] });
    expect(await storage.facts()).toEqual(before);
    for (const name of await namesOf(daemon))
      expect((await daemon.call('RemoveSystemState', { stateName: name })).code).toBe(0);
    expect((await storage.facts()).length).toBe(before.length - 2);
  });

  it('that is short of space loses no more automatic states than are in the way', async (context) => {
    const { storage, start } = await withImage(context);
    const first = await start();
    for (let at = 0; at < 6; at++) {
      writeFileSync(join(storage.systemPath, 'file'), Buffer.alloc(40_000_000, `${at}`), { flush: true });
      await first.call('SaveSystemState', { autosave: true });
    }
    const before = await namesOf(first);
    await first.service.close(0);
    run('btrfs', 'filesystem', 'sync', storage.root);
    const { bavail, blocks } = statfsSync(storage.root);
    // One of them has 8 % of the disk for itself.
    const STATESVC_MIN_FREE = String(Math.ceil((bavail / blocks) * 100) + 2);
    const daemon = await start({ settings: { STATESVC_MIN_FREE } });
    const answer = await daemon.call('SaveSystemState', { stateName: 'more' });
    expect(answer).toMatchObject({ code: 0 });
    expect(await namesOf(daemon)).toEqual(['more', ...before.slice(0, -1)]);
  });

  it('whose disk fails refuses every write, and has what it had when the disk is back', async (context) => {
    const { storage, start } = await withImage(context, { disk: '96m' });
    const daemon = await start();
    await daemon.save('one');
    const before = await statesOf(daemon);
    // A log that the disk took half of would keep the kernel from mounting it again.
    await untilItLasts(daemon);
    // The kernel makes the file system read-only when a write to the disk fails.
    const filler = join(storage.base, 'disk/filler');
    run('sh', '-c', 'cat /dev/zero > "$0" || true', filler);
    const hurt = async () => {
      writeFileSync(join(storage.systemPath, `file-${Math.random()}`), Buffer.alloc(4_000_000, 'x'));
      run('btrfs', 'filesystem', 'sync', storage.root);
    };
    await expect
      .poll(() =>
        hurt().then(
          () => false,
          () => true,
        ),
      )
      .toBe(true);
    for (const [operation, stateName] of [
      ['SaveSystemState', 'two'],
      ['RemoveSystemState', 'one'],
      ['UpdateLastUsed', undefined],
    ] as const) {
      const answer = await daemon.call(operation, { stateName });
      expect([operation, answer]).toEqual([operation, expect.objectContaining({ code: 14, results: [] })]);
      expect(answer.details).toMatch(/read-only|i\/o error|input\/output error/i);
    }
    expect(await statesOf(daemon)).toEqual(before);
    expect((await daemon.call('Status')).lines.join('\n')).toContain(
      'in trouble: the file system is read-only',
    );
    await daemon.service.close(0);
    rmSync(filler);
    await storage.reopen();
    const again = await start();
    expect(await statesOf(again)).toEqual(before);
    expect((await again.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    await again.save('two');
  });

  it('whose quota is used up refuses to save and leaves nothing', async (context) => {
    const { daemon, storage } = await withState(context);
    run('btrfs', 'quota', 'enable', storage.root);
    run('btrfs', 'qgroup', 'limit', '1K', join(storage.root, '@states'));
    const before = await storage.facts();
    const answer = await daemon.call('SaveSystemState', { stateName: 'two' });
    expect(answer).toMatchObject({
      details: expect.stringContaining('not enough free space'),
      code: 8,
      results: [],
    });
    expect(await namesOf(daemon)).toEqual(['one']);
    run('btrfs', 'quota', 'disable', storage.root);
    expect((await daemon.call('Refresh')).code).toBe(0);
    expect(await storage.facts()).toEqual(before);
    expect(await daemon.save('two')).toBe('two');
  });

  it('with a thousand snapshots of others is as quick, and they stay', {
    timeout: 150_000,
  }, async (context) => {
    const { storage, start } = await withImage(context);
    const others = join(storage.root, 'others');
    mkdirSync(others);
    for (let at = 0; at < 1000; at++)
      subvolume('snapshot', '-r', join(storage.root, '@'), join(others, `${at}`));
    const daemon = await start();
    const began = performance.now();
    await daemon.save('one');
    const took = performance.now() - began;
    await daemon.call('RemoveSystemState', { stateName: 'one' });
    await context.annotate(`a save among 1,000 others took ${Math.round(took)} ms`);
    expect(took).toBeLessThan(2000);
    expect(await statesOf(daemon)).toEqual([]);
    expect(readdirSync(others)).toHaveLength(1000);
  });

  it('is not shared by two daemons', async (context) => {
    const { daemon, storage } = await withState(context);
    const other = { folder: join(temporaryFolder(), 'state'), settings: storage.settings };
    await expect(startDaemon(other)).rejects.toThrow(/The folder of states .+ is in use by another Croft/);
    expect(await namesOf(daemon)).toEqual(['one']);
  });

  it.for<[string, (storage: BtrfsImage) => Record<string, string>, RegExp]>([
    ['the program', ({ base }) => ({ STATESVC_SEARCH_PATH: base }), /the program btrfs is not installed/],
    ['its top level', ({ systemPath }) => ({ STATESVC_BTRFS_ROOT: systemPath }), /subvolid=5/],
    ['a mount', ({ base }) => ({ STATESVC_BTRFS_ROOT: base }), /subvolid=5/],
    ['the system', () => ({ STATESVC_BTRFS_SYSTEM: '@other' }), /is no subvolume/],
    ['sense', () => ({ STATESVC_BTRFS_SYSTEM: '../@' }), /is not the path of a subvolume/],
    ['sense', () => ({ STATESVC_BTRFS_HOMES: '@states/x' }), /is not the path of a subvolume/],
  ])('without %s is refused at the start, and nothing is made', async ([, change, message], context) => {
    const { storage, start } = await withImage(context);
    const before = [subvolume('list', storage.root), readdirSync(storage.root)];
    const started = start({ settings: change(storage) });
    await expect(started).rejects.toThrow(StartError);
    await expect(started).rejects.toThrow(message);
    expect([subvolume('list', storage.root), readdirSync(storage.root)]).toEqual(before);
  });

  it('keeps what it has from everybody but root', async (context) => {
    const { states } = await withState(context);
    expect(statSync(states).mode & 0o777).toBe(0o700);
  });
});

describe('a home on btrfs', () => {
  it('that became a folder is not saved as one, and nothing is', async (context) => {
    const { storage, start } = await withImage(context);
    const path = join(storage.homesFolder, 'ada');
    const daemon = await start();
    await daemon.call('CreateUserData', { user: 'ada', homepath: path });
    subvolume('delete', path);
    mkdirSync(path);
    const before = await storage.facts();
    const answer = await daemon.call('SaveSystemState', { stateName: 'one' });
    expect(answer).toMatchObject({ code: 9, results: [] });
    expect(answer.details).toContain('@home/ada is no subvolume');
    expect(await storage.facts()).toEqual(before);
    // And who has nothing there any more is not emptied.
    const gone = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(gone.lines).toContain(`warning: ${path} is no subvolume any more and was left alone`);
    expect(await daemon.save('two')).toBe('two');
  });

  it('is a subvolume that was there already, as it is', async (context) => {
    const { storage, start } = await withImage(context);
    const path = join(storage.homesFolder, 'ada');
    subvolume('create', path);
    writeFileSync(join(path, 'file'), 'of ada');
    const before = treeFacts(path);
    const daemon = await start();
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath: path })).code).toBe(0);
    expect(treeFacts(path)).toEqual(before);
  });

  it.for([
    ['a folder with something in it', 'HOMES/full', /it is a folder and no subvolume/],
    ['another file system', '/dev/shm/croft-ada', /mounted at .+, and this is another file system/],
    ['another part of the file system', 'TOP/elsewhere', /choose a path there/],
    ['a saved state', 'TOP/@states/work/ada', /choose a path there/],
  ] as const)('is not made of %s, and nothing changes', async ([, given, message], context) => {
    const { storage, start } = await withImage(context);
    mkdirSync(join(storage.homesFolder, 'full/of'), { recursive: true });
    const daemon = await start();
    const homepath = given.replace('HOMES', storage.homesFolder).replace('TOP', storage.root);
    const before = [await storage.facts(), treeFacts(storage.homesFolder)];
    const answer = await daemon.call('CreateUserData', { user: 'ada', homepath });
    expect(answer).toMatchObject({ code: 9, order: [] });
    expect(answer.details).toMatch(message);
    expect([await storage.facts(), treeFacts(storage.homesFolder)]).toEqual(before);
    rmSync('/dev/shm/croft-ada', { force: true, recursive: true });
  });
});
