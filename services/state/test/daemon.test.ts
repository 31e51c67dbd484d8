import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLog } from '@croft/runtime';
import { describe, expect, it } from 'vitest';
import { startDaemon, temporaryFolder } from './daemon.ts';

describe('a stock gRPC client without metadata', () => {
  it('asks for the version and gets exactly one result, last', async () => {
    const daemon = await startDaemon();
    const answer = await daemon.call('Version');
    expect(answer).toMatchObject({ code: 0, order: ['version'], results: [{ version: '1.2.3-test' }] });
    expect(answer.requestId).toBeUndefined();
  });

  it('is told the status in log lines', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const { code, lines, results } = await daemon.call('Status');
    expect({ code, results }).toEqual({ code: 0, results: [] });
    expect(lines[0]).toMatch(/^croft state 1\.2\.3-test, up \d+ s$/);
    expect(lines).toContainEqual(expect.stringMatching(/^storage: vault at .+: healthy, .+ free$/));
    expect(lines).toContain(`machine: vault:${daemon.tree} (managed), states: 1`);
    expect(lines).toContain('writers: none');
  });

  it('is told the same as JSON when it asks for that', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const { code, lines } = await daemon.call('Status', {}, { metadata: { format: 'json' } });
    expect(code).toBe(0);
    expect(JSON.parse(lines.join('\n'))).toEqual({
      version: '1.2.3-test',
      upSeconds: expect.any(Number),
      storage: {
        driver: 'vault',
        location: join(daemon.folder, 'vault'),
        trouble: null,
        pools: [{ name: expect.any(String), size: expect.any(Number), free: expect.any(Number) }],
      },
      machine: { id: `vault:${daemon.tree}`, managed: true, states: 1 },
      writers: [],
      notOpenYet: [],
      errorCount: 0,
      errors: [],
    });
  });

  it.each(['1970-01-01T00:00:00Z', '2099-01-01T00:00:00Z'])(
    'is told how long the daemon runs, also when the clock is set to %s',
    async (set) => {
      let now = new Date();
      const daemon = await startDaemon({ clock: { now: () => now } });
      now = new Date(set);
      const { lines } = await daemon.call('Status');
      expect(Number(/, up (-?\d+) s$/.exec(lines[0] ?? '')?.[1])).toBeOneOf([0, 1, 2, 3, 4, 5]);
    },
  );

  it('gets its request id back, unless it is unfit for a log line', async () => {
    const daemon = await startDaemon();
    const ask = async (requestid: string) =>
      (await daemon.call('Version', {}, { metadata: { requestid } })).requestId;
    expect(await ask('ticket-7')).toBe('ticket-7');
    expect(await ask('two words')).toBeUndefined();
    expect(await ask('x'.repeat(129))).toBeUndefined();
  });
});

describe('machines', () => {
  it('are listed as a table, the current one first', async () => {
    const daemon = await startDaemon();
    const { results } = await daemon.call('MachineList');
    expect(String(results[0]?.['machineList']).split('\n')).toEqual([
      expect.stringMatching(/^ID +MANAGED {2}STATES {2}LAST USED$/),
      expect.stringMatching(new RegExp(`^vault:${daemon.tree} +yes +0 +current$`)),
      '',
    ]);
  });

  it('are shown by id, by the end of it, by a state of theirs, and by nothing for the current one', async () => {
    const daemon = await startDaemon();
    await daemon.save('first');
    const id = (await daemon.dump()).machines[0]?.states[0]?.id;
    const show = async (machineId: string) => (await daemon.call('MachineShow', { machineId })).results;
    const expected = await show('');
    expect(String(expected[0]?.['machineInfo'])).toMatch(
      /^first +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC +manual +whole/m,
    );
    for (const word of [`vault:${daemon.tree}`, daemon.tree, id as string])
      expect(await show(word)).toEqual(expected);
    expect(await daemon.call('MachineShow', { machineId: 'other' })).toMatchObject({ code: 5, order: [] });
  });

  it('keep the states of a folder that is no longer the system', async () => {
    const folder = join(temporaryFolder(), 'state');
    const before = await startDaemon({ folder });
    await before.save('old-home');
    await before.service.close(0);
    const after = await startDaemon({ folder });
    const { machines } = await after.dump();
    expect(machines.map(({ id, states }) => [id, states.length])).toEqual([
      [`vault:${after.tree}`, 0],
      [`vault:${before.tree}`, 1],
    ]);
    expect((await after.call('RemoveSystemState', { stateName: 'old-home' })).code).toBe(0);
    expect((await after.dump()).machines.map(({ id }) => id)).toEqual([`vault:${after.tree}`]);
  });
});

describe('the logging level', () => {
  it('changes what the daemon logs', async () => {
    const file = join(temporaryFolder(), 'log');
    const daemon = await startDaemon({ log: createLog({ level: 'info', file }) });
    const lines = () => readFileSync(file, 'utf8').split('\n').length;
    const during = async (work: () => Promise<unknown>) => {
      const before = lines();
      await work();
      return lines() - before;
    };
    expect(await during(() => daemon.call('Version'))).toBe(1);
    expect((await daemon.call('LoggingLevel', { logginglevel: 0 })).code).toBe(0);
    expect(await during(() => daemon.call('Version'))).toBe(0);
    expect((await daemon.call('LoggingLevel', { logginglevel: 1 })).code).toBe(0);
    expect(await during(() => daemon.call('Version'))).toBe(1);
  });

  it.each([-1, 3])('refuses %d', async (logginglevel) => {
    const daemon = await startDaemon();
    expect(await daemon.call('LoggingLevel', { logginglevel })).toMatchObject({ code: 3, order: [] });
  });
});

describe('stopping', () => {
  it('answers DaemonStop, tells its owner, and leaves no socket', async () => {
    let stopped = () => {};
    const asked = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const daemon = await startDaemon({ onStop: () => stopped() });
    expect(await daemon.call('DaemonStop')).toMatchObject({ code: 0, lines: ['the daemon is stopping'] });
    await asked;
    await daemon.service.close(1000);
    expect(existsSync(join(daemon.folder, 'statesvc.sock'))).toBe(false);
    expect((await daemon.call('Version')).code).toBe(14);
  });

  it('lets a save in flight finish and refuses new calls meanwhile', async () => {
    const daemon = await startDaemon();
    for (let file = 0; file < 300; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    let closing: Promise<void> | undefined;
    let refused: Promise<{ code: number; details: string }> | undefined;
    const saved = await daemon.call(
      'SaveSystemState',
      { stateName: 'last' },
      {
        onLine: () => {
          closing ??= daemon.service.close(10_000);
          refused ??= daemon.call('Version');
        },
      },
    );
    expect(saved).toMatchObject({ code: 0, results: [{ stateName: 'last' }] });
    expect((await refused)?.code).toBe(14);
    await closing;
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect((await again.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['last']);
  });

  it('ends a save whose grace time is over, and nothing is left of it', async () => {
    const daemon = await startDaemon();
    for (let file = 0; file < 600; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    let closing: Promise<void> | undefined;
    const saved = await daemon.call(
      'SaveSystemState',
      { stateName: 'late' },
      {
        onLine: () => {
          closing ??= daemon.service.close(0);
        },
      },
    );
    expect(saved).toMatchObject({ code: 14, results: [] });
    await closing;
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect((await again.dump()).machines[0]?.states).toEqual([]);
  });
});

describe('buf curl, by reflection alone', () => {
  const buf = async (daemon: { folder: string }, operation: string, request = '{}') => {
    const binary = join(import.meta.dirname, '../../../node_modules/.bin/buf');
    const words = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', '--unix-socket'];
    const url = `http://localhost/statesvc.StateService/${operation}`;
    return promisify(execFile)(binary, [
      ...words,
      join(daemon.folder, 'statesvc.sock'),
      '-d',
      request,
      url,
    ]).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    );
  };

  it('saves, shows and removes a state, and reads a refusal', async () => {
    const daemon = await startDaemon();
    expect(JSON.parse(await buf(daemon, 'Version'))).toEqual({ version: '1.2.3-test' });
    expect(await buf(daemon, 'SaveSystemState', '{"stateName":"from-buf"}')).toContain(
      '"stateName": "from-buf"',
    );
    expect(await buf(daemon, 'MachineShow')).toContain('from-buf');
    expect(JSON.parse(await buf(daemon, 'SaveSystemState', '{"stateName":"from-buf"}'))).toMatchObject({
      code: 'already_exists',
    });
    expect(await buf(daemon, 'RemoveSystemState', '{"stateName":"from-buf"}')).toContain('@from-buf');
    expect((await daemon.dump()).machines[0]?.states).toEqual([]);
  });
});
