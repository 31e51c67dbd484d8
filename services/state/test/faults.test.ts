import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { createConnection } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixedClock, skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { aState } from './models.ts';
import { checkVault } from './vault-check.ts';

const namesOf = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states.map(({ name }) => name);

async function quiet(daemon: Daemon): Promise<void> {
  await expect.poll(async () => (await daemon.call('Status')).lines).toContain('writers: none');
}

function fill(tree: string, files: number): void {
  for (let file = 0; file < files; file++)
    writeFileSync(join(tree, `f${file}`), `content ${file} `.repeat(50));
}

describe('deadlines too short for what is asked', () => {
  it('leave nothing half done, and the next call works', async () => {
    const daemon = await startDaemon();
    fill(daemon.tree, 500);
    const codes: number[] = [];
    for (const deadlineMs of [1, 10, 30, 100]) {
      const home = join(temporaryFolder(), 'home');
      for (const [operation, request] of [
        ['SaveSystemState', { stateName: 'short' }],
        ['CreateUserData', { user: 'ada', homepath: home }],
        ['GC', { all: true }],
        ['UpdateLastUsed', {}],
        ['PrepareBoot', {}],
        ['DissociateUser', { user: 'ada', removeHome: true }],
        ['RemoveSystemState', { stateName: 'short' }],
      ] as const) {
        codes.push((await daemon.call(operation, request, { deadlineMs })).code);
        await quiet(daemon);
        checkVault(daemon.folder, await daemon.dump());
      }
      await daemon.call('RemoveSystemState', { stateName: 'short' });
      expect(await daemon.save('next')).toBe('next');
      expect((await daemon.call('RemoveSystemState', { stateName: 'next' })).code).toBe(0);
    }
    expect(codes).toContain(4);
    expect(new Set(codes)).not.toContain(13);
    expect(await namesOf(daemon)).toEqual([]);
  });
});

/** A client that is only a connection. It asks for an operation without fields, and reads or not. */
function bareClient(daemon: Daemon, operation: string, body = Buffer.alloc(0)): ClientHttp2Session {
  const path = daemon.service.address.replace('unix:', '');
  const session = connect('http://localhost', { createConnection: () => createConnection(path) });
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': `/statesvc.StateService/${operation}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([prefix, body]));
  onTestFinished(() => session.destroy());
  return session;
}

const field = (number: number, text: string) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);

describe('a client', () => {
  it('that vanishes with its connection leaves nothing behind, and the machine is free', async () => {
    const daemon = await startDaemon();
    fill(daemon.tree, 800);
    const session = bareClient(daemon, 'SaveSystemState', field(1, 'vanished'));
    await expect.poll(async () => (await daemon.call('Status')).lines.join()).toContain('SaveSystemState on');
    session.destroy();
    await quiet(daemon);
    expect(await namesOf(daemon)).toEqual([]);
    checkVault(daemon.folder, await daemon.dump());
    expect(await daemon.save('next')).toBe('next');
  });

  it('that never reads holds nobody, however much it was told', async () => {
    const { daemon } = await withManyDependants();
    // Nothing reads the stream, so the window fills and stays full.
    for (let client = 0; client < 5; client++) bareClient(daemon, 'RemoveSystemState', field(1, 'wanted'));
    await sleep(300);
    await quiet(daemon);
    expect(await daemon.save('next')).toBe('next');
  });
});

const DEPENDANTS = 5000;

/** A state of the system with the pinned states of thousands of users, as an earlier daemon left them. */
async function withManyDependants() {
  const first = await startDaemon();
  await first.save('wanted');
  const id = (await first.dump()).machines[0]?.states[0]?.id ?? '';
  await first.service.close(0);
  const file = join(first.folder, 'vault/states', `${id}.json`);
  const record = JSON.parse(readFileSync(file, 'utf8')) as { version: number; states: object[] };
  const [system] = record.states as [{ machine: string; createdAt: string; members: object[] }];
  for (let user = 0; user < DEPENDANTS; user++) {
    const { machine, createdAt, members } = system;
    const name = `u${user}`;
    const state = {
      id: `${id}-${user}`,
      user: name,
      system: id,
      name: 'wanted',
      machine,
      createdAt,
      pinned: true,
    };
    record.states.push({ ...aState(state), members });
  }
  // As a daemon writes it: a start looks for what changed in its place only where it cannot know better.
  writeFileSync(`${first.folder}/record`, JSON.stringify(record));
  renameSync(`${first.folder}/record`, file);
  const daemon = await startDaemon({ folder: first.folder, tree: first.tree });
  return { daemon, file };
}

it('5,000 dependants are told line by line before a short refusal, and nothing changes', {
  timeout: 150_000,
}, async () => {
  const { daemon } = await withManyDependants();
  const before = [await daemon.dump(), vaultFacts(daemon.folder)];
  const answer = await daemon.call('RemoveSystemState', { stateName: 'wanted' });
  expect(answer).toMatchObject({ code: 9, results: [] });
  expect(answer.lines).toHaveLength(DEPENDANTS);
  expect(answer.lines[4999]).toContain('/u4999@wanted is pinned');
  expect(answer.details.length).toBeLessThan(400);
  expect(answer.details).toContain('5000 lines');
  expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  // With force they go, all of them.
  const removed = await daemon.call('RemoveSystemState', { stateName: 'wanted', force: true });
  expect(removed.code).toBe(0);
  expect(await namesOf(daemon)).toEqual([]);
});

it('a damaged list and a removal that was interrupted do not keep the daemon from starting', async () => {
  const first = await startDaemon();
  fill(first.tree, 5);
  for (const name of ['one', 'two']) {
    writeFileSync(join(first.tree, 'file'), name);
    await first.save(name);
  }
  const { machines, storage } = await first.dump();
  const list = machines[0]?.states[0]?.members[0]?.snapshot ?? '';
  await first.service.close(0);
  const file = join(storage.location, 'objects', list.slice(0, 2), list.slice(2));
  truncateSync(file, readFileSync(file).length - 10);
  const intent = { event: 'begun', intent: { do: 'remove', id: 'gone', ids: ['gone'] } };
  writeFileSync(join(first.folder, 'journal.jsonl'), `${JSON.stringify(intent)}\n`);
  const objects = () => vaultFacts(first.folder).filter((fact) => fact.startsWith('objects/'));
  const before = objects();
  const again = await startDaemon({ folder: first.folder, tree: first.tree });
  expect(await namesOf(again)).toEqual(['two', 'one']);
  // Nothing of the others is taken for garbage meanwhile, and the damaged one can go.
  expect(objects()).toEqual(before);
  expect((await again.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
  expect(await namesOf(again)).toEqual(['one']);
  checkVault(first.folder, await again.dump());
});

describe('a clock that is moved back', () => {
  it('loses nothing and mixes nothing up, also after a restart', async () => {
    const [folder, tree] = [join(temporaryFolder(), 'state'), temporaryFolder()];
    const policy = join(temporaryFolder(), 'policy.yaml');
    writeFileSync(policy, 'keep: {days: 1, newest: 1, rules: []}\n');
    const options = { folder, tree, settings: { STATESVC_POLICY: policy } };
    const clock = fixedClock('2026-11-21T10:00:00Z');
    const first = await startDaemon({ ...options, clock });
    writeFileSync(join(tree, 'file'), 'then');
    await first.save('then');
    clock.advance(-20 * 86_400_000);
    writeFileSync(join(tree, 'file'), 'earlier, and later');
    await first.save('now');
    expect((await first.call('UpdateLastUsed')).code).toBe(0);
    // What is of the future is no older than anything.
    expect((await first.call('GC')).code).toBe(0);
    expect(await namesOf(first)).toEqual(['then', 'now']);
    checkVault(folder, await first.dump());
    await first.service.close(0);
    const again = await startDaemon({ ...options, clock });
    expect(await namesOf(again)).toEqual(['then', 'now']);
    expect((await again.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
    expect((await again.call('SaveSystemState', { stateName: 'then' })).code).toBe(6);
    expect((await again.call('RemoveSystemState', { stateName: 'then' })).code).toBe(0);
    expect(await namesOf(again)).toEqual(['now']);
  });
});

/** A disk that the kernel takes out of service when it is told of an error. */
function failingDisk(context: TestContext) {
  const place = temporaryFolder();
  const [image, folder] = [join(place, 'image'), join(place, 'disk')];
  let device: string;
  try {
    mkdirSync(folder);
    writeFileSync(image, '');
    truncateSync(image, 32 * 1024 ** 2);
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, folder], { stdio: 'ignore' });
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const mounted = mounts.find((line) => line.split(' ')[4] === folder) ?? '';
    device = basename(/ - ext4 (\S+)/.exec(mounted)?.[1] ?? '');
  } catch {
    skipWithout(context, 'the right to mount a disk of its own');
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' }));
  const trigger = `/sys/fs/ext4/${device}/trigger_fs_error`;
  if (!existsSync(trigger))
    skipWithout(context, 'a kernel that takes a disk out of service when it is told to');
  const fail = () => writeFileSync(trigger, '1');
  return { folder, fail };
}

it('a disk that became read-only ends every write clearly, and reading goes on', async (context) => {
  const { folder, fail } = failingDisk(context);
  const daemon = await startDaemon({ folder: join(folder, 'state') });
  fill(daemon.tree, 100);
  await daemon.save('before');
  const home = join(temporaryFolder(), 'ada');
  await daemon.call('CreateUserData', { user: 'ada', homepath: home });
  const before = await daemon.dump();
  fail();
  for (const [operation, request] of [
    ['SaveSystemState', { stateName: 'never' }],
    ['SaveUserState', { userName: 'ada', stateName: 'never' }],
    ['RemoveSystemState', { stateName: 'before' }],
    ['CreateUserData', { user: 'bob', homepath: join(temporaryFolder(), 'bob') }],
    ['ChangeHomeOnUserData', { home, newHome: `${home}-new` }],
    ['DissociateUser', { user: 'ada', removeHome: true }],
    ['UpdateLastUsed', {}],
  ] as const) {
    const answer = await daemon.call(operation, request);
    expect([operation, answer]).toEqual([operation, expect.objectContaining({ code: 14, results: [] })]);
    expect(answer.details).toContain('takes no writes');
  }
  expect(await daemon.dump()).toEqual(before);
  expect((await daemon.call('Status')).code).toBe(0);
  expect((await daemon.call('MachineShow')).code).toBe(0);
});
