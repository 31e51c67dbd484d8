import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment, temporaryFolder } from '@croft/testing';
import { expect, it } from 'vitest';
import { environment, placeFor, root, startCroft } from './support/croft.ts';
import { sampleTree } from './support/tree.ts';

const run = promisify(execFile);

it('the first five minutes of the README work as they stand', async () => {
  await using folder = await temporaryFolder();
  const system = join(folder.path, 'etc');
  await mkdir(system);
  await sampleTree(system);
  const place = await placeFor(join(folder.path, 'data'), { STATESVC_VAULT_SYSTEM: system });
  const croft = await startCroft(place);
  try {
    // A person works in the checkout; here its parts are linked into the folder that holds the data folder.
    for (const name of [
      'bootstrap.js',
      'main.ts',
      'launcher',
      'package.json',
      'package-lock.json',
      'node_modules',
    ]) {
      await symlink(join(root, name), join(folder.path, name));
    }
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
    expect(blocks).toHaveLength(4);
    const script = blocks
      .join('\n')
      .replaceAll('127.0.0.1:8081', new URL(croft.auth).host)
      .replaceAll('127.0.0.1:3000', new URL(croft.forge).host)
      .replaceAll('/tmp/hello', join(folder.path, 'hello'));
    const { stdout } = await run('bash', ['--norc', '-euxo', 'pipefail', '-c', script], {
      cwd: folder.path,
      env: { ...gitEnvironment, ...environment(place) },
    });
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(lines.slice(1, 5)).toEqual(['303', 'ada@example.com', `${croft.forge}/ada/hello.git`, 'true']);
    expect(stdout).toContain('-Hello\n+Hello, world\n200\n');
    expect(stdout).toContain(`Merge pull request 'Greet everybody' (#1) from greet into main`);
    expect(stdout.split('\n').slice(-12).join('\n')).toContain('before-upgrade');
  } finally {
    await croft.stop('SIGTERM');
  }
});
