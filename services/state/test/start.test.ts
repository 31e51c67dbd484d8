import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '@croft/runtime';
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { socketPath } from '../src/index.ts';
import { callAt, startDaemon, temporaryFolder, treeFacts } from './daemon.ts';

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

  it('changes nothing of the states when it is refused', async () => {
    const first = await startDaemon();
    writeFileSync(join(first.tree, 'file'), 'x');
    await first.save('one');
    await first.service.close(0);
    const { folder, tree } = first;
    // What a start would clear away, and write down anew.
    mkdirSync(join(folder, 'vault/staging/half'));
    writeFileSync(join(folder, 'vault/staging/half/file'), 'x');
    appendFileSync(join(folder, 'journal.jsonl'), '{"event":"begun","intent":{"do":"save","id":"half"}}\n');
    const facts = () => [treeFacts(join(folder, 'vault')), ...['checkpoint.json', 'journal.jsonl'].map(fact)];
    const fact = (name: string) => [
      statSync(join(folder, name)).ino,
      readFileSync(join(folder, name), 'utf8'),
    ];
    const before = facts();
    const place = temporaryFolder();
    const [open, wrong, taken] = [join(place, 'open'), join(place, 'wrong'), join(place, 'taken.sock')];
    mkdirSync(open);
    chmodSync(open, 0o777);
    writeFileSync(wrong, 'nonsense: true\n');
    const others = [createServer(), createServer()] as const;
    await new Promise<void>((resolve) => others[0].listen(taken, resolve));
    await new Promise<void>((resolve) => others[1].listen(0, '127.0.0.1', resolve));
    const { port } = others[1].address() as AddressInfo;
    for (const settings of [
      { STATESVC_SOCKET: join(open, 'state.sock') },
      { STATESVC_SOCKET: taken },
      { STATESVC_SOCKET: wrong },
      { STATESVC_METRICS_LISTEN: `127.0.0.1:${port}` },
      { STATESVC_POLICY: wrong },
    ] as readonly Record<string, string>[]) {
      await expect(startDaemon({ folder, tree, settings })).rejects.toThrow(StartError);
      expect([settings, facts()]).toEqual([settings, before]);
    }
    for (const other of others) other.close();
    const again = await startDaemon({ folder, tree });
    expect((await again.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['one']);
    expect(existsSync(join(folder, 'vault/staging/half'))).toBe(false);
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
