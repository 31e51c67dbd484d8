import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { operationNames } from '../src/rpc.ts';
import { extraNames } from '../src/rpc-extras.ts';
import { rights } from '../src/rules/access/rights.ts';
import { extraRights } from '../src/rules/access/rights-extras.ts';
import { stateSettings } from '../src/settings.ts';
import { startDaemon, temporaryFolder } from './daemon.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const documentation = read('docs/api/state.md');

/** First cells of the rows of the table under a heading. */
function firstCells(heading: string): string[] {
  const section = documentation.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] as string;
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell as string);
}

it('the documentation has every operation', () => {
  expect(firstCells('StateExtras').sort()).toEqual([...extraNames].sort());
  expect(firstCells('Operations').sort()).toEqual([...operationNames].sort());
});

it('the documentation has every field of the dump and no other', async () => {
  const daemon = await startDaemon();
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
  await daemon.save('one');
  const paths = new Set<string>();
  const visit = (value: unknown, path: string) => {
    if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`);
    else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) visit(inner, path === '' ? key : `${path}.${key}`);
    } else paths.add(path);
  };
  visit(await daemon.dump(), '');
  expect(firstCells('The dump').sort()).toEqual([...paths].sort());
});

it('the example of the documentation runs as it is written', async () => {
  const daemon = await startDaemon();
  const stdout = await runExample('With any client', join(daemon.folder, 'statesvc.sock'));
  expect(stdout).toContain('"stateName": "before-upgrade"');
  expect(stdout).toContain('"version": "1.2.3-test"');
  expect(stdout.match(/forget .+@before-upgrade/g)).toHaveLength(2);
  expect(stdout).toContain('\\"states\\":[]');
});

it('the example of what is served besides the contract runs as it is written', async () => {
  const daemon = await startDaemon();
  for (const name of ['good', 'later']) {
    writeFileSync(join(daemon.tree, 'file'), name);
    await daemon.save(name);
  }
  const stdout = await runExample('StateExtras', join(daemon.folder, 'statesvc.sock'));
  for (const says of [
    '@good is described',
    '@good is pinned',
    '"DIFF_KIND_CHANGED"',
    'the next boot goes back to',
  ])
    expect(stdout).toContain(says);
  for (const says of [
    'goes back to no state any more',
    '@good is no longer pinned',
    '"stateName": "copy"',
    '"ready":',
  ])
    expect(stdout).toContain(says);
  expect((await daemon.dump()).machines[0]?.states).toHaveLength(3);
});

/** Runs the shell example under a heading in a folder of its own. */
async function runExample(heading: string, socket: string): Promise<string> {
  const section = documentation.split(`\n## ${heading}\n`)[1] as string;
  const example = /```sh\n([\s\S]*?)```/.exec(section)?.[1] as string;
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH: path, SOCKET: socket };
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', example], { env, cwd: temporaryFolder() });
  return stdout;
}

it('the README has every setting', () => {
  const documented = [...read('services/state/README.md').matchAll(/^\| `STATESVC_(\w+)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(documented.sort()).toEqual(Object.keys(stateSettings.settings).sort());
});

it('the documentation tells who may do what', () => {
  const section = documentation.split('\n## Who may do what\n')[1]?.split('\n## ')[0] as string;
  const documented = (right: string) => {
    const [, cell = ''] = new RegExp(`^\\| ${right} \\| ([^|]+) \\|`, 'm').exec(section) ?? [];
    return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort();
  };
  const all = Object.entries<unknown>({ ...rights, ...extraRights });
  const served = (kind: string) =>
    all.filter(([, right]) => (typeof right === 'object' ? 'own' : right) === kind).map(([name]) => name);
  expect(documented('read')).toEqual(served('read').sort());
  expect(documented('own')).toEqual(served('own').sort());
});
