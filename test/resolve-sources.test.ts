import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SOURCES = new URL('../launcher/resolve-sources.ts', import.meta.url).href;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'croft-sources-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** What `first.ts` prints when it is imported after the sources are known. */
async function run(): Promise<string> {
  write(
    'main.mjs',
    `import { resolveSources } from '${SOURCES}'; resolveSources(); await import('./first.ts');`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')]);
  return stdout;
}

it('finds sources by their paths and everything else as Node does', async () => {
  write('first.ts', "import './sub/second.ts'; import './third.mjs'; import 'pack'; console.log('first');");
  write('sub/second.ts', "import '../fourth.ts'; const text: string = 'second'; console.log(text);");
  write('third.mjs', "console.log('third');");
  write('fourth.ts', "console.log('fourth');");
  write('node_modules/pack/package.json', '{"type":"module","exports":"./index.js"}');
  write(
    'node_modules/pack/index.js',
    "import { basename } from 'node:path'; console.log(basename('x/pack'));",
  );
  expect((await run()).split('\n')).toEqual(['fourth', 'second', 'third', 'pack', 'first', '']);
});

it('evaluates a source once, whichever way it is imported', async () => {
  write('first.ts', "import './sub/second.ts'; await import('./third.ts'); import './sub/../third.ts';");
  write('sub/second.ts', "import '../third.ts';");
  write('third.ts', "console.log('third');");
  expect(await run()).toBe('third\n');
});

it('names a source that is missing', async () => {
  write('first.ts', "import './missing.ts';");
  await expect(run()).rejects.toThrow(/ENOENT.*missing\.ts/);
});
