import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  callAt,
  type Daemon,
  type DaemonOptions,
  startDaemon,
  temporaryFolder,
  vaultFacts,
} from './daemon.ts';
import { startProcess } from './spawned-daemon.ts';

const DAY = 86_400_000;

/** A daemon whose clock a test sets. */
async function daemonAt(options: DaemonOptions = {}) {
  let now = new Date('2026-11-22T15:30:00').getTime();
  const daemon = await startDaemon({ ...options, clock: { now: () => new Date(now) } });
  writeFileSync(join(daemon.tree, 'file'), 'content');
  const callDaysAgo = async (days: number, operation: string, request: object = {}) => {
    now -= days * DAY;
    const answer = await daemon.call(operation, request);
    now += days * DAY;
    expect(answer.code).toBe(0);
    return answer;
  };
  const saveDaysAgo = async (days: number, request: object = {}) => {
    const answer = await callDaysAgo(days, 'SaveSystemState', { autosave: true, ...request });
    return answer.results[0]?.['stateName'] as string;
  };
  return { daemon, callDaysAgo, saveDaysAgo };
}

const namesOf = async (daemon: Daemon) =>
  (await daemon.dump()).machines[0]?.states.filter(({ user }) => user === null).map(({ name }) => name) ?? [];

const policyFile = (text: string): string => {
  const file = join(temporaryFolder(), 'policy.yaml');
  writeFileSync(file, text);
  return file;
};
const NOTHING = 'keep: {days: 0, newest: 0, rules: []}\n';

describe('GC', () => {
  it('removes what the policy does not keep, with the states of users and their content', async () => {
    const settings = { STATESVC_POLICY: policyFile('keep: {days: 1, newest: 0, rules: [{keep: 1}]}\n') };
    const { daemon, saveDaysAgo } = await daemonAt({ settings });
    const homepath = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath });
    const today = await saveDaysAgo(0);
    const kept = await saveDaysAgo(1);
    const manual = await saveDaysAgo(8, { stateName: 'manual', autosave: false });
    writeFileSync(join(homepath, 'only-then'), 'content of then');
    const gone = [await saveDaysAgo(9), await saveDaysAgo(20)];
    const answer = await daemon.call('GC');
    expect(answer).toMatchObject({ code: 0, results: [] });
    expect(answer.lines.at(-1)).toBe('removed 2 states');
    expect((await namesOf(daemon)).sort()).toEqual([today, kept, manual].sort());
    expect((await daemon.dump()).machines[0]?.states).toHaveLength(6);
    for (const name of gone) expect(answer.lines.join('\n')).toContain(name);
    expect(JSON.stringify(vaultFacts(daemon.folder))).not.toContain('/new');
    expect(await daemon.call('GC')).toMatchObject({ code: 0, lines: ['there was nothing to remove'] });
  });

  it('takes manual states only when all are meant', async () => {
    const { daemon, saveDaysAgo } = await daemonAt({ settings: { STATESVC_POLICY: policyFile(NOTHING) } });
    await saveDaysAgo(3, { stateName: 'manual', autosave: false });
    await saveDaysAgo(2);
    await daemon.call('GC');
    expect(await namesOf(daemon)).toEqual(['manual']);
    await daemon.call('GC', { all: true });
    expect(await namesOf(daemon)).toEqual([]);
  });

  it('removes automatic states, oldest first, while the disk is short of space', async () => {
    const { bavail, blocks } = statfsSync(temporaryFolder());
    // Whatever others do on this disk meanwhile.
    const above = Math.min(90, Math.ceil((bavail / blocks) * 100) + 1);
    const folder = join(temporaryFolder(), 'state');
    const first = await daemonAt({ folder });
    await first.saveDaysAgo(2);
    await first.saveDaysAgo(1);
    const newest = await first.saveDaysAgo(0);
    await first.saveDaysAgo(0, { stateName: 'manual', autosave: false });
    await first.daemon.service.close(0);
    const { daemon } = await daemonAt({
      folder,
      tree: first.daemon.tree,
      settings: { STATESVC_MIN_FREE: String(above) },
    });
    // A name that is taken is refused before anything is removed for it.
    expect((await daemon.call('SaveSystemState', { stateName: 'manual' })).code).toBe(6);
    expect(await namesOf(daemon)).toHaveLength(4);
    const answer = await daemon.call('SaveSystemState', { stateName: 'more' });
    expect(answer.code).toBe(8);
    expect(answer.lines.filter((line) => line.endsWith('is short of space')).length).toBeGreaterThan(0);
    // Those share all that they hold, so that one without the other brings nothing; never these two.
    expect((await namesOf(daemon)).sort()).toEqual([newest, 'manual'].sort());
  });

  it('keeps what was saved last while the clock was decades behind, also after a restart', async () => {
    const settings = { STATESVC_POLICY: policyFile('keep: {days: 0, newest: 1, rules: []}\n') };
    const folder = join(temporaryFolder(), 'state');
    const { daemon, saveDaysAgo } = await daemonAt({ folder, settings });
    const homepath = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath });
    await saveDaysAgo(8);
    const before = await saveDaysAgo(1);
    const last = await saveDaysAgo(20_000);
    await daemon.service.close(0);
    const again = await daemonAt({ folder, settings, tree: daemon.tree });
    const { lines } = await again.daemon.call('GC');
    expect(lines.at(-1)).toBe('removed 2 states');
    expect(lines.join('\n')).toContain(`@${before}`);
    expect(await namesOf(again.daemon)).toEqual([last]);
  });

  it.each([{ all: false }, { all: true }])(
    'takes nothing when the clock is years ahead, and says so: %o',
    async (request) => {
      const { daemon, callDaysAgo, saveDaysAgo } = await daemonAt({
        settings: { STATESVC_POLICY: policyFile(NOTHING) },
      });
      await saveDaysAgo(1);
      await saveDaysAgo(400);
      await saveDaysAgo(20, { stateName: 'manual', autosave: false });
      // What is saved by that clock does not vouch for it.
      const ahead = await saveDaysAgo(-3000);
      const before = await daemon.dump();
      const { lines } = await callDaysAgo(-3001, 'GC', request);
      expect(lines).toEqual([
        expect.stringMatching(
          /^warning: the clock says 2035-.*, a year or more after .* none is removed by its age$/,
        ),
        'there was nothing to remove',
      ]);
      expect(await daemon.dump()).toEqual(before);
      // It is put right, and what it saved stays until somebody removes it.
      await daemon.call('GC');
      expect(await namesOf(daemon)).toEqual([ahead, 'manual']);
    },
  );

  it('goes on when one state cannot be removed, tells it, and ends with ABORTED', async () => {
    const { daemon, saveDaysAgo } = await daemonAt({ settings: { STATESVC_POLICY: policyFile(NOTHING) } });
    const [, changed] = [await saveDaysAgo(1), await saveDaysAgo(2), await saveDaysAgo(3)];
    const id = (await daemon.dump()).machines[0]?.states.find(({ name }) => name === changed)?.id as string;
    // Somebody wrote there: a record that is no record.
    writeFileSync(join(daemon.folder, 'vault/states', `${id}.json`), '{}');
    const answer = await daemon.call('GC');
    expect(answer).toMatchObject({ code: 10, details: expect.stringContaining('1 of the states') });
    expect(answer.lines.join('\n')).toContain(`@${changed} was not removed: `);
    expect(await namesOf(daemon)).toEqual([changed]);
  });
});

describe('Reload', () => {
  it('puts a changed policy in force', async () => {
    const file = policyFile('');
    const { daemon, saveDaysAgo } = await daemonAt({ settings: { STATESVC_POLICY: file } });
    await saveDaysAgo(1);
    await daemon.call('GC');
    expect(await namesOf(daemon)).toHaveLength(1);
    writeFileSync(file, NOTHING);
    expect((await daemon.call('Reload')).lines).toEqual([
      `${file}: everything of 0 days and the newest 0 states are kept, and of older ones what 0 rules say; the boot menu shows at most 20 states`,
    ]);
    await daemon.call('GC');
    expect(await namesOf(daemon)).toEqual([]);
  });

  it('keeps the old one when the new one is wrong, and says where', async () => {
    const file = policyFile(NOTHING);
    const { daemon, saveDaysAgo } = await daemonAt({ settings: { STATESVC_POLICY: file } });
    await saveDaysAgo(1);
    writeFileSync(file, 'keep:\n  newest: many\n');
    expect(await daemon.call('Reload')).toMatchObject({
      code: 3,
      order: [],
      details: `policy file ${file}: line 2: keep.newest is a whole number from 0 to 10000`,
    });
    await daemon.call('GC');
    expect(await namesOf(daemon)).toEqual([]);
  });

  it.each([
    ['a fifo that nobody writes to', 'mkfifo "$0"', 'it is no file'],
    ['a device without an end', 'ln -s /dev/zero "$0"', 'it is no file'],
    ['a folder', 'mkdir "$0"', 'it is no file'],
    ['too large', 'head -c 70000 /dev/zero > "$0"', 'it is larger than 64 KiB'],
    ['a link in a circle', 'ln -s "$0" "$0"', 'ELOOP: too many symbolic links encountered'],
  ])('holds nobody up when the new one is %s, and keeps the old one', async (_what, command, says) => {
    const file = policyFile(NOTHING);
    const { daemon, saveDaysAgo } = await daemonAt({ settings: { STATESVC_POLICY: file } });
    await saveDaysAgo(1);
    rmSync(file);
    execFileSync('sh', ['-c', command, file]);
    const answer = await daemon.call('Reload', {}, { deadlineMs: 5000 });
    expect(answer).toMatchObject({ code: 3, order: [] });
    expect(answer.details).toContain(`policy file ${file}: ${says}`);
    await daemon.call('GC');
    expect(await namesOf(daemon)).toEqual([]);
  });

  it('refuses to start with a wrong one', async () => {
    const settings = { STATESVC_POLICY: policyFile('nonsense') };
    await expect(startDaemon({ settings })).rejects.toThrow('line 1: the policy holds names and values');
  });
});

describe('Refresh', () => {
  it('believes the storage and tells what differed', async () => {
    const { daemon } = await daemonAt();
    await daemon.save('gone');
    await daemon.save('kept');
    expect(await daemon.call('Refresh')).toMatchObject({ code: 0, lines: ['nothing differed: 2 states'] });
    const { machines } = await daemon.dump();
    const id = machines[0]?.states.find(({ name }) => name === 'gone')?.id;

    rmSync(join(daemon.folder, 'vault/states', `${id}.json`));
    const answer = await daemon.call('Refresh');
    expect(answer.lines).toEqual([
      `vault:${daemon.tree}@gone (${id}) is no longer in the storage and was forgotten`,
    ]);
    expect(await namesOf(daemon)).toEqual(['kept']);
    // The name is free again, and a restart says nothing new.
    expect(await daemon.save('gone')).toBe('gone');
  });

  it('waits for a save that is under way', async () => {
    const { daemon } = await daemonAt();
    for (let file = 0; file < 400; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    let refreshed: Promise<{ lines: string[] }> | undefined;
    await daemon.call(
      'SaveSystemState',
      { stateName: 'long' },
      { onLine: () => void (refreshed ??= daemon.call('Refresh')) },
    );
    expect((await refreshed)?.lines).toEqual(['nothing differed: 1 state']);
    expect(await namesOf(daemon)).toEqual(['long']);
  });
});

describe('UpdateLastUsed', () => {
  it('writes the time down, also for the next daemon', async () => {
    const { daemon } = await daemonAt();
    expect((await daemon.call('UpdateLastUsed')).code).toBe(0);
    const [machine] = (await daemon.dump()).machines;
    expect(machine?.lastUsedAt).toBe(new Date('2026-11-22T15:30:00').toISOString());
    await daemon.service.close(0);
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect((await again.dump()).machines[0]?.lastUsedAt).toBe(machine?.lastUsedAt);
  });

  it('does nothing on a machine that is not managed, and says so', async () => {
    const { daemon } = await daemonAt({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    expect(await daemon.call('UpdateLastUsed')).toMatchObject({
      code: 0,
      lines: ['this machine is not managed, so nothing was written'],
    });
    expect(readdirSync(join(daemon.folder, 'vault'))).not.toContain('machines.json');
  });
});

describe('Trace', () => {
  const bytesOf = (results: readonly Record<string, unknown>[]) =>
    Buffer.concat(results.map(({ trace }) => trace as Buffer));

  it('takes a profile of the processor that V8 can open', async () => {
    const daemon = await startDaemon();
    const answer = await daemon.call('Trace', { type: 'cpu', duration: 1 });
    expect(answer.code).toBe(0);
    const profile = JSON.parse(bytesOf(answer.results).toString());
    expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
    expect(profile.endTime - profile.startTime).toBeGreaterThan(900_000);
    expect(profile.samples).toHaveLength(profile.timeDeltas.length);
  });

  it('takes a snapshot of the heap in small messages', async () => {
    // In a process of its own: it is one of all that runs there, which is much where tests share theirs.
    const daemon = await startProcess(join(temporaryFolder(), 'state'), temporaryFolder());
    const answer = await callAt(daemon.address, 'Trace', { type: 'heap' });
    expect(answer.code).toBe(0);
    for (const { trace } of answer.results) expect((trace as Buffer).length).toBeLessThan(64 * 1024);
    const snapshot = JSON.parse(bytesOf(answer.results).toString());
    expect(snapshot.nodes.length / snapshot.snapshot.meta.node_fields.length).toBe(
      snapshot.snapshot.node_count,
    );
  });

  it('records the calls that end meanwhile', async () => {
    const daemon = await startDaemon();
    const tracing = daemon.call('Trace', { type: 'trace', duration: 1 });
    // Status is answered at once, so it ends while the other waits.
    await daemon.call('Status', {}, { metadata: { requestid: 'seen' } });
    await daemon.call('RemoveSystemState', { stateName: 'none' });
    const spans = bytesOf((await tracing).results)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(spans).toMatchObject([
      { operation: 'Status', requestId: 'seen', status: 'OK', ms: expect.any(Number) },
      { operation: 'RemoveSystemState', status: 'NOT_FOUND' },
    ]);
  });

  it('ends when its caller goes away, and lets the next one in', async () => {
    const daemon = await startDaemon();
    expect((await daemon.call('Trace', { type: 'cpu', duration: 600 }, { deadlineMs: 100 })).code).toBe(4);
    await expect
      .poll(async () => (await daemon.call('Trace', { type: 'trace' })).code, { interval: 10 })
      .toBe(0);
  });

  it('takes one at a time', async () => {
    const daemon = await startDaemon();
    const first = daemon.call('Trace', { type: 'trace', duration: 1 });
    await daemon.call('Status');
    expect((await daemon.call('Trace', { type: 'heap' })).code).toBe(10);
    expect((await first).code).toBe(0);
  });

  it.each([
    ['no type', '', 0],
    ['an unknown type', 'mem', 0],
    ['a name of every object', 'constructor', 0],
    ['a negative duration', 'cpu', -1],
    ['eleven minutes', 'cpu', 660],
  ])('refuses %s', async (_what, type, duration) => {
    const daemon = await startDaemon();
    expect(await daemon.call('Trace', { type, duration })).toMatchObject({ code: 3, order: [] });
  });
});
