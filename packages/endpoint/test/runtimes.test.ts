import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { skipWithout } from '@croft/testing';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPackage } from '../build.ts';
import { calls } from './support/calls.ts';
import { startEchoServer } from './support/echo-server.ts';
import { findNode } from './support/programs.ts';

// A project that has the built package installed
const folder = mkdtempSync(join(tmpdir(), 'croft-endpoint-'));
let server: Awaited<ReturnType<typeof startEchoServer>>;

beforeAll(async () => {
  buildPackage(join(folder, 'node_modules/@croft/endpoint'));
  server = await startEchoServer();
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe('every call of a user works in', () => {
  const program = join(folder, 'calls.mjs');

  beforeAll(async () => {
    const contents = `
      import { createRequire } from 'node:module';
      import { Readable } from 'node:stream';
      import { endpoint, toFetch } from '@croft/endpoint';
      import { makeCalls } from './calls.ts';

      const [baseUrl] = process.argv.slice(2);
      async function* pieces() { yield Buffer.from('pie'); yield Buffer.from('ces'); }
      const streamed = [];
      for (const data of [new Blob(['web']).stream(), Readable.from(['no', 'de']), pieces()]) {
        const response = await fetch(...toFetch(endpoint('POST /x', { baseUrl, data })));
        streamed.push((await response.json()).body);
      }
      const { version, features } = process;
      const require = createRequire(import.meta.url);
      const required = !features.require_module || require('@croft/endpoint').endpoint === endpoint;
      console.log(JSON.stringify({ version, streamed, required, results: await makeCalls(baseUrl) }));`;
    await build({
      stdin: { contents, resolveDir: join(import.meta.dirname, 'support'), loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      external: ['@croft/endpoint'],
      outfile: program,
    });
  });

  test.for([20, 22, 24])('Node %i', async (major, context) => {
    const node = findNode(major) ?? skipWithout(context, `Node ${major}`);
    const { stdout, stderr } = await promisify(execFile)(node, [program, server.base]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      version: expect.stringMatching(`^v${major}\\.`),
      streamed: ['web', 'node', 'pieces'],
      required: true,
      results: Object.fromEntries(Object.entries(calls).map(([name, { wanted }]) => [name, wanted])),
    });
  });
});

describe('with nothing but the language', () => {
  let run: (code: string) => unknown;

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from '@croft/endpoint'`, resolveDir: folder },
      bundle: true,
      format: 'iife',
      globalName: 'croft',
      target: 'es2022',
      write: false,
    });
    const context = createContext({});
    const evaluate = (code: string): unknown => runInContext(code, context);
    // What V8 has beyond ECMAScript 2022, but for `toWellFormed`
    evaluate('delete globalThis.console; delete globalThis.WebAssembly; delete JSON.rawJSON;');
    evaluate(outputFiles[0]?.text ?? '');
    evaluate(`
      var { endpoint, expand, toFetch, EndpointError } = croft;
      function sent(data) { return toFetch(endpoint('POST /x', { data }))[1]; }
      function caught(run) { try { run(); } catch (error) { return error; } }`);
    run = (code) => JSON.parse(evaluate(`JSON.stringify(${code})`) as string);
  });

  test('there is no global of a platform', () => {
    const names = ['process', 'Buffer', 'URL', 'fetch', 'Headers', 'ReadableStream', 'Blob', 'FormData'];
    names.push('TextEncoder', 'structuredClone', 'AbortSignal', 'console', 'setTimeout', 'queueMicrotask');
    expect(run(`[${names.map((name) => `typeof ${name}`).join()}]`)).toEqual(names.map(() => 'undefined'));
  });

  test.each([
    [
      'endpoint',
      `endpoint('/{b}', { baseUrl: 'http://h', b: 'ü', c: [1, 2] }).url`,
      'http://h/%C3%BC?c=1%2C2',
    ],
    ['endpoint with a body', `endpoint('POST /a', { b: 1 }).body`, { b: 1 }],
    ['defaults', `endpoint.defaults({ baseUrl: 'http://h', b: 1 })('/a/{b}').url`, 'http://h/a/1'],
    ['merge', `endpoint.merge('PUT /a', { b: 1 }).method`, 'PUT'],
    ['parse', `endpoint.parse({ url: '/a', method: 'DELETE' }).method`, 'delete'],
    ['expand', `expand('{?a*}', { a: { x: 'é' } })`, '?x=%C3%A9'],
    ['EndpointError', `caught(() => expand('{a')) instanceof EndpointError`, true],
    ['toFetch of JSON', `sent({ a: 1 }).body`, '{"a":1}'],
    ['toFetch of a bigint', `sent([9007199254740991n]).body`, '[9007199254740991]'],
    ['toFetch of a longer one', `caught(() => sent([9007199254740992n])) instanceof TypeError`, true],
    ['half a surrogate pair', `expand('{a}', { a: '\\ud800' })`, '%EF%BF%BD'],
    ['toFetch of text', `sent('text').body`, 'text'],
    ['toFetch of bytes', `sent(new Uint8Array(2)).body.length`, 2],
    ['toFetch of a generator', `sent((async function* () {})()).duplex`, 'half'],
  ])('%s', (_, code, wanted) => expect(run(code)).toEqual(wanted));
});
