import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '@croft/runtime';
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { socketPath } from '../src/index.ts';
import { callAt, startDaemon, temporaryFolder } from './daemon.ts';

describe('the socket', () => {
  it('is for its owner alone, in a folder for its owner alone', async () => {
    const daemon = await startDaemon();
    expect(statSync(join(daemon.folder, 'statesvc.sock')).mode & 0o777).toBe(0o600);
    expect(statSync(daemon.folder).mode & 0o777).toBe(0o700);
  });

  it('of a dead daemon is replaced', async () => {
    const folder = join(temporaryFolder(), 'state');
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, 'statesvc.sock');
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await promisify(execFile)(process.execPath, ['-e', script]).catch(() => {});
    expect(statSync(path).isSocket()).toBe(true);
    expect((await (await startDaemon({ folder })).call('Version')).code).toBe(0);
  });

  it('of a live daemon is refused and left alone', async () => {
    const path = join(temporaryFolder(), 'taken.sock');
    const other = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => other.listen(path, resolve));
    await expect(startDaemon({ settings: { STATESVC_SOCKET: path } })).rejects.toThrow(
      /another daemon listens on .*taken.sock/,
    );
    expect(existsSync(path)).toBe(true);
    other.close();
  });

  it('never replaces what is no socket', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, 'precious');
    await expect(startDaemon({ settings: { STATESVC_SOCKET: path } })).rejects.toThrow(StartError);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('is not put where others could put theirs, and the folder stays what it is', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'precious'), 'states');
    chmodSync(folder, 0o777);
    const settings = { STATESVC_SOCKET: join(folder, 'state.sock') };
    // It may be the one with all states: nobody is told to remove it.
    await expect(startDaemon({ settings })).rejects.toThrow(
      /can be written by everybody\. Start Croft as the user whose folder it is, .*chmod o-w.* STATESVC_SOCKET\.$/,
    );
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('states');
    expect(existsSync(settings.STATESVC_SOCKET)).toBe(false);
  });

  it('lies in a short folder of its own when the data folder has too long a path', async () => {
    const folder = join(temporaryFolder(), 'x'.repeat(100), 'state');
    const daemon = await startDaemon({ folder });
    const path = socketPath({ SOCKET: undefined }, folder);
    onTestFinished(() => rmSync(join(path, '..'), { recursive: true }));
    expect(daemon.service.address).toBe(`unix:${path}`);
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect((await callAt(`unix:${path}`, 'Version')).code).toBe(0);
  });

  it('with too long a path of its own is a clear error', async () => {
    const settings = { STATESVC_SOCKET: `/tmp/${'x'.repeat(110)}.sock` };
    await expect(startDaemon({ settings })).rejects.toThrow(/has 120 bytes, the system allows 107/);
  });
});

describe('starting', () => {
  it('refuses a folder that another daemon uses', async () => {
    const daemon = await startDaemon();
    const other = join(temporaryFolder(), 'other.sock');
    await expect(
      startDaemon({ folder: daemon.folder, settings: { STATESVC_SOCKET: other } }),
    ).rejects.toThrow(/in use by another Croft/);
    expect((await daemon.call('Version')).code).toBe(0);
  });

  it('refuses a system that is not there, is no folder, or lies where the states are kept', async () => {
    const folder = join(temporaryFolder(), 'state');
    mkdirSync(join(folder, 'inside'), { recursive: true, mode: 0o700 });
    for (const tree of ['/nonexistent/system', '/etc/hostname', folder, join(folder, 'inside')]) {
      await expect(startDaemon({ folder, tree })).rejects.toThrow(StartError);
    }
  });

  it('answers the standard health check before it says that it is up', async () => {
    const daemon = await startDaemon();
    const Client = makeGenericClientConstructor(healthService, 'Health');
    const client = new Client(daemon.service.address, credentials.createInsecure());
    const check = (name: string) =>
      new Promise((resolve) => {
        (
          client['Check'] as unknown as (
            request: object,
            done: (error: unknown, answer: unknown) => void,
          ) => void
        ).call(client, { service: name }, (error, answer) => resolve(error ?? answer));
      });
    for (const name of ['', 'statesvc.StateService'])
      expect(await check(name)).toMatchObject({ status: 'SERVING' });
    expect(await check('other')).toMatchObject({ code: 5 });
    client.close();
  });
});
