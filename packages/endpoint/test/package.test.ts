import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { minify } from 'terser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint } from '../src/index.ts';

const own = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));

// What npm would publish, and a project that has it installed
const folder = mkdtempSync(join(tmpdir(), 'croft-endpoint-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules/@croft/endpoint');
let tarball: Uint8Array<ArrayBuffer>;
let packed: string[];

beforeAll(() => {
  const source = join(folder, 'package');
  // As npm runs it, for somebody in `folder`
  execFileSync(process.execPath, ['build.ts', 'package'], {
    cwd: own,
    // oxlint-disable-next-line node/no-process-env -- added to
    env: { ...process.env, INIT_CWD: folder },
    stdio: 'pipe',
  });
  const options = ['--json', '--ignore-scripts', '--offline', '--pack-destination', folder];
  const [report] = JSON.parse(
    execFileSync('npm', ['pack', ...options], { cwd: source, encoding: 'utf8', stdio: 'pipe' }),
  );
  packed = report.files.map(({ path }: { path: string }) => path);
  tarball = new Uint8Array(readFileSync(join(folder, report.filename)));
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, report.filename), '-C', installed, '--strip-components=1']);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the user-agent is the name and the version of the package', () => {
  expect(endpoint.DEFAULTS.headers['user-agent']).toBe(`croft-endpoint/${manifest.version}`);
  expect(readFileSync(join(own, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${manifest.version}\n`);
});

test('nothing is needed at run time', () => {
  expect(manifest.dependencies ?? {}).toEqual({});
});

describe('what is published', () => {
  test('is the modules, their types and the documents', () => {
    const isModule = (path: string) => path.startsWith('dist/');
    expect(packed.filter((path) => !isModule(path)).sort()).toEqual([
      'CHANGELOG.md',
      'DIFFERENCES.md',
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const modules = packed.filter(isModule);
    expect(modules).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/types.d.ts']));
    // Neither a module without a word at run time nor the types of an internal one
    expect(modules).not.toEqual(expect.arrayContaining(['dist/types.js']));
    expect(modules).not.toEqual(expect.arrayContaining(['dist/cache.d.ts']));
    for (const path of modules) {
      const source = path.replace(/^dist\//, 'src/').replace(/\.(js|d\.ts)$/, '.ts');
      expect(source).not.toMatch(/\.test\.ts$/);
      expect(existsSync(join(own, source)), path).toBe(true);
    }
  });

  test('has a manifest of its own', () => {
    const { exports, ...rest } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(rest).toEqual({
      name: '@croft/endpoint',
      version: manifest.version,
      description: manifest.description,
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=20' },
      main: './dist/index.js',
      types: './dist/index.d.ts',
      files: ['dist', 'README.md', 'CHANGELOG.md', 'DIFFERENCES.md'],
    });
    expect(Object.keys(exports)).toEqual(Object.keys(manifest.exports));
    expect(Object.entries(exports['.'])).toEqual([
      ['types', './dist/index.d.ts'],
      ['default', './dist/index.js'],
    ]);
  });

  test('has nothing that publint complains of', async () => {
    expect(await publint({ pack: { tarball: tarball.buffer }, strict: true })).toMatchObject({
      messages: [],
    });
  });

  test('has the right types wherever ES modules are known', async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    if (!result.types) throw new Error('no types');
    expect(Object.keys(result.entrypoints)).toEqual(Object.keys(manifest.exports));
    const problems = result.problems.filter(
      (problem) =>
        // CommonJS gets it by `import()`, or by a `require` that knows ES modules: README, Install.
        problem.kind !== 'CJSResolvesToESM' &&
        // Tools that know no `exports` have the main entry alone.
        !(
          problem.kind === 'NoResolution' &&
          problem.resolutionKind === 'node10' &&
          problem.entrypoint !== '.'
        ),
    );
    expect(problems).toEqual([]);
  });

  test('has no side effects', async () => {
    const imports = Object.keys(manifest.exports).map((entry) => `import '${specifier(entry)}';`);
    expect(await bundle(imports.join('\n'), project)).toHaveLength(0);
  });
});

describe('a TypeScript project compiles', () => {
  const compiler = join(own, '../../node_modules/.bin/tsc');
  const strict = '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --target es2022'.split(' ');
  const ofNode = ['--types', 'node', '--typeRoots', join(own, '../../node_modules/@types')];
  const entries = Object.keys(manifest.exports);
  const program = `
    ${entries.map((entry, i) => `import type * as entry${i} from '${specifier(entry)}';`).join('\n')}
    import { endpoint, EndpointError, expand, toFetch, type RequestOptions } from '@croft/endpoint';
    export type Entries = [${entries.map((_, i) => `typeof entry${i}`).join()}];
    export const options: RequestOptions = endpoint.defaults({ org: 'a' })('GET /{org}/{name}', { name: 'b' });
    export const [url, init]: [string, object] = toFetch(options);
    export const texts: string[] = [expand('{?a}', { a: 1 }), new EndpointError('a', 'b', 1).option];
    // @ts-expect-error name is missing
    endpoint('GET /{org}/{name}', { org: 'a' });`;
  const withFetch = `${program}
    const request = { signal: AbortSignal.timeout(1) };
    const sent = toFetch(endpoint('/x', { headers: new Headers(), request }));
    export const response: Promise<Response> = fetch(...sent);
    export const method: string | undefined = sent[1].method;
    // @ts-expect-error not a signal
    endpoint('/x', { request: { signal: 1 } });`;

  test.each([
    ['with the types of browsers', withFetch, 'nodenext', 'es2022,dom,dom.iterable', ['--types', '']],
    ['with the types of Node', withFetch, 'nodenext', 'es2022', ofNode],
    ['for a bundler', withFetch, 'bundler', 'es2022,dom,dom.iterable', ['--types', '']],
    ['without the types of a platform', program, 'nodenext', 'es2022', ['--types', '']],
  ])('%s', (_, code, resolution, lib, types) => {
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(project, 'index.ts'), code);
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const modules = ['--module', module, '--moduleResolution', resolution, '--lib', lib, ...types];
    const { stdout, status } = spawnSync(compiler, [...strict, ...modules, 'index.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  });
});

// The figures of the README: gzip of the bundle that esbuild makes and minifies, `everything` also of what terser makes of it
test.each([
  ['everything', '*', 3072, smallest],
  ['everything by esbuild alone', '*', 3160, (code: string) => code],
  ['expand alone', '{ expand }', 1331, (code: string) => code],
])('%s is small', async (_, names, limit, minified) => {
  const code = await minified(await bundle(`export ${names} from '@croft/endpoint'`, project));
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(limit);
  // no syntax that a browser of 2022 refuses
  expect(code).not.toMatch(/\(\?<[=!]/);
});

async function smallest(code: string): Promise<string> {
  const result = await minify(code, { module: true, ecma: 2022, compress: { passes: 3 }, mangle: true });
  return result.code ?? '';
}

function specifier(entry: string): string {
  return entry.replace('.', '@croft/endpoint');
}

async function bundle(contents: string, resolveDir: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    logLevel: 'error', // an import that is left out for want of side effects is a warning
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
