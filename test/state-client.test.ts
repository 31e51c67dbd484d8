import { type ChildProcess, execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { root } from './support/croft.ts';

/** Of somebody who is neither root nor, unless he says so, whoever became root. */
const OTHER = 65_534;

describe('attack: root runs the client of the state service where somebody else has a daemon waiting', () => {
  let folder: string;
  let calls: number;
  beforeEach(async (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to give a folder away');
    folder = mkdtempSync(join(tmpdir(), 'croft-foreign-'));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'data/state'), { recursive: true });
    calls = 0;
    const server = createServer((connection) => {
      calls++;
      connection.destroy();
    });
    await new Promise<void>((listening) =>
      server.listen(join(folder, 'data/state/statesvc.sock'), listening),
    );
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
  });
  const give = (uid: number, ...paths: string[]) => {
    for (const path of paths) chownSync(join(folder, path), uid, uid);
  };
  const all = ['.', 'data', 'data/state', 'data/state/statesvc.sock'];
  const run = (env: Record<string, string> = {}, words = ['state', 'list']) =>
    new Promise<{ code: ChildProcess['exitCode']; said: string }>((done) => {
      const { PATH = '' } = process.env;
      const options = { cwd: folder, env: { PATH, ...env }, timeout: 60_000 };
      const child = execFile(
        process.execPath,
        [join(root, 'main.ts'), ...words],
        options,
        (_error, out, err) => done({ code: child.exitCode, said: out + err }),
      );
    });
  const refused = expect.stringMatching(
    /^croft state: \S*\/data\/state(\/statesvc\.sock)? belongs to another user \(uid 65534\).* STATESVC_SOCKET=\S*\/data\/state\/statesvc\.sock croft state …\n$/,
  );

  it('is refused and told why, whoever owns the folders around the socket', async () => {
    for (const owned of [all, ['data/state'], ['data/state/statesvc.sock']]) {
      give(0, ...all);
      give(OTHER, ...owned);
      expect([owned, await run()]).toEqual([owned, { code: 1, said: refused }]);
    }
    expect(calls).toBe(0);
  });

  it('is not asked for help and completions, which need no daemon', async () => {
    give(OTHER, ...all);
    for (const words of [['completion', 'bash'], ['help'], ['list', '--help']])
      expect([words, await run({}, ['state', ...words])]).toMatchObject([words, { code: 0 }]);
    expect(calls).toBe(0);
  });

  it('is refused when a file .env of that user names the daemon, or a link leads to it', async () => {
    give(OTHER, ...all);
    const elsewhere = mkdtempSync(join(tmpdir(), 'croft-foreign-env-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true }));
    const daemon = folder;
    folder = elsewhere;
    for (const line of [`STATESVC_SOCKET=${daemon}/data/state/statesvc.sock`, `CROFT_DATA=${daemon}/data`]) {
      writeFileSync(join(elsewhere, '.env'), `${line}\nSUDO_UID=${OTHER}\n`);
      give(OTHER, '.env');
      expect([line, await run()]).toEqual([line, { code: 1, said: refused }]);
    }
    rmSync(join(elsewhere, '.env'));
    symlinkSync(join(daemon, 'data'), join(elsewhere, 'data'));
    expect((await run()).said).toContain('belongs to another user');
    folder = daemon;
    expect(calls).toBe(0);
  });

  it('is let through by whoever names it, by a file .env of his own and by sudo of that user', async () => {
    give(OTHER, ...all);
    const socket = join(folder, 'data/state/statesvc.sock');
    for (const env of [{ STATESVC_SOCKET: socket }, { CROFT_DATA: './data' }, { SUDO_UID: String(OTHER) }]) {
      calls = 0;
      expect([env, (await run(env)).said]).toEqual([env, expect.not.stringContaining('belongs to')]);
      expect([env, calls > 0]).toEqual([env, true]);
    }
    calls = 0;
    writeFileSync(join(folder, '.env'), 'CROFT_DATA=./data\n');
    expect((await run()).said).not.toContain('belongs to');
    expect(calls).toBeGreaterThan(0);
  });

  it('does not concern root in a folder of his, nor help and daemons elsewhere', async () => {
    expect((await run()).said).not.toContain('belongs to');
    expect(calls).toBeGreaterThan(0);
    calls = 0;
    give(OTHER, ...all);
    expect(await run({}, ['state', '--help'])).toMatchObject({ code: 0 });
    const far = await run({}, ['state', 'list', '--address', '127.0.0.1:9']);
    expect(far.said).toContain('does not answer at 127.0.0.1:9');
    expect(calls).toBe(0);
  });
});
