import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { operationNames } from '../src/rpc.ts';
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
  const example = /```sh\n([\s\S]*?)```/.exec(documentation)?.[1] as string;
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', example], {
    env: { ...process.env, PATH: path, SOCKET: join(daemon.folder, 'statesvc.sock') },
  });
  expect(stdout).toContain('"stateName": "before-upgrade"');
  expect(stdout).toContain('"version": "1.2.3-test"');
  expect(stdout.match(/forget .+@before-upgrade/g)).toHaveLength(2);
  expect(stdout).toContain('\\"states\\":[]');
});

it('the README has every setting', () => {
  const documented = [...read('services/state/README.md').matchAll(/^\| `STATESVC_(\w+)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(documented.sort()).toEqual(Object.keys(stateSettings.settings).sort());
});
