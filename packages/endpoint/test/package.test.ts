import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { endpoint } from '../src/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

test('the user-agent is the name and the version of the package', () => {
  expect(endpoint.DEFAULTS.headers['user-agent']).toBe(`croft-endpoint/${manifest.version}`);
  expect(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')).toContain(
    `\n## ${manifest.version}\n`,
  );
});

test('nothing is needed at run time', () => {
  expect(manifest.dependencies ?? {}).toEqual({});
});

test.each([
  ['everything', '*', 4000],
  ['expand alone', '{ expand }', 1340],
])('%s is small', async (_, names, limit) => {
  const contents = `export ${names} from './index.ts'`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: new URL('../src', import.meta.url).pathname },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    write: false,
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThan(limit);
  // no syntax that a browser of 2022 refuses
  expect(outputFiles[0]?.text).not.toMatch(/\(\?<[=!]/);
});
