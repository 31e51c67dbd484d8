import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gitEnvironment } from '@croft/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { ENDPOINTS } from '../src/endpoints/index.ts';
import { request, useForge } from './forge.ts';

/** What follows from a request soon, not in it: webhooks and notifications. */
const SOON_MS = 10_000;

const run = promisify(execFile);
const scene = useForge();
const folder = new URL('../../../docs/api/', import.meta.url);
const entry = await readFile(new URL('forge.md', folder), 'utf8');
/** The parts, in the order in which the entry names them. */
const parts = [...entry.matchAll(/\]\((forge\/\w+\.md)\)/g)].map(([, path = '']) => new URL(path, folder));
const document = [entry, ...(await Promise.all(parts.map((part) => readFile(part, 'utf8'))))].join('\n');
/** Requests, of which a block has several with empty lines between them, and scripts. */
const examples = [...document.matchAll(/^```(http|sh)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, text = '']) =>
  (kind === 'sh' ? [text] : text.trim().split('\n\n')).map((part) => ({ kind, text: part })),
);

/** Files come as forms, not as JSON, so they stand in no list; scripts show them. */
const UPLOADS = [
  ['POST', '/repos/:owner/:repo/issues/:index/assets'],
  ['POST', '/repos/:owner/:repo/issues/comments/:id/assets'],
  ['POST', '/repos/:owner/:repo/releases/:release/assets'],
] as const;

/** `:index(^\\d+)` of a route and `{index}` of OpenAPI are the same thing. */
const pattern = (path: string) => path.replace(/\(\^[^/]*?\$?\)(?=\.|\/|$)/g, '').replace(/:(\w+)/g, '{$1}');

it('every example of the contract works, in its order', async () => {
  const ada = scene.person('ada');
  const known = new Map([
    ['bob', scene.person('bob').token],
    ['root', scene.person('root', { role: 'service_role' }).token],
  ]);
  for (const { kind, text: written } of examples) {
    const fill = (asked: string) =>
      asked.replace(/\{(\w+)\}/g, (name, key: string) => known.get(key) ?? name);
    const text = written.replace(/^[^→]*/, fill);
    if (kind === 'sh') {
      const env = { ...gitEnvironment, TOKEN: ada.token, FORGE: new URL(scene.address).host };
      await run('sh', ['-ec', text], { cwd: scene.folder, env });
      continue;
    }
    const { request, status, member, name } = parse(text, ada.token);
    for (const deadline = Date.now() + SOON_MS; ; await sleep(50)) {
      const answer = await fetch(`${scene.address}/api/v1${request.path}`, request);
      const said = await answer.text();
      expect({ example: text, status: answer.status, said }).toMatchObject({ example: text, status });
      if (member === undefined || name === undefined) break;
      const value = memberOf(said, member);
      if (value === undefined && Date.now() < deadline && request.method === 'GET') continue;
      expect({ example: text, value: typeof value }).not.toMatchObject({ value: 'undefined' });
      known.set(name, String(value));
      break;
    }
  }
});

it('every endpoint has an example', () => {
  const shown = examples.flatMap(({ kind, text }) =>
    kind === 'http'
      ? text.split('\n', 1)
      : [...text.matchAll(/^curl .* -F .*\/api\/v1(\/\S+)$/gm)].map(([, path = '']) => `POST ${path}`),
  );
  const missing = [...ENDPOINTS, ...UPLOADS].filter(([method, path]) => {
    const route = new RegExp(
      `^${method} ${pattern(path)
        .replaceAll('.', '\\.')
        .replaceAll('*', '.+')
        .replace(/\{\w+\}/g, '[^/.?]+')}(\\?.*)?$`,
    );
    return !shown.some((line) => route.test(line));
  });
  expect(missing.map(([method, path]) => `${method} ${path}`)).toEqual([]);
  expect(shown.length).toBeGreaterThanOrEqual(ENDPOINTS.length);
});

it('the OpenAPI document describes every endpoint with its parameters and answers', async () => {
  const { body } = await scene.person('ada').call('GET', '/openapi.json');
  expect(body['openapi']).toBe('3.1.0');
  const paths = body['paths'] as Record<string, Record<string, { summary: string; responses: object }>>;
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described).toHaveLength(ENDPOINTS.length + UPLOADS.length);
  for (const [, , { summary }] of ENDPOINTS) expect(JSON.stringify(paths)).toContain(JSON.stringify(summary));
  const create = paths['/api/v1/repos/{owner}/{repo}/issues']?.['post'];
  expect(Object.keys(create?.responses ?? {})).toEqual(['201', '401', '403', '404', '409', '422', '423']);
  expect(JSON.stringify(create)).toContain('due_date');
});

/** A request line, a body and headers where there are some, and the status with what later examples need of the answer. */
function parse(text: string, token: string) {
  const lines = text.split('\n');
  const [method = '', path = ''] = lines[0]?.split(' ') ?? [];
  const headers = new Headers({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });
  for (const line of lines.slice(1)) {
    const [, header, value] = line.match(/^([A-Z][\w-]*): (.+)$/) ?? [];
    if (header !== undefined && value !== undefined) headers.set(header, value);
  }
  const body = lines.find((line) => line.startsWith('{')) ?? null;
  const [, status, member, name] = lines.at(-1)?.match(/^→ (\d{3})(?:, ([\w.]+): \{(\w+)\})?$/) ?? [];
  return { request: { method, path, headers, body }, status: Number(status), member, name };
}

/** A member of an answer by its path, such as `commit.id` or `0.id`. */
function memberOf(answer: string, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      JSON.parse(answer),
    );
}

it('is described for tools of the reference as well, in Swagger 2.0', async () => {
  const { status, text } = await request(`${scene.address}/swagger.v1.json`, 'GET');
  expect(status).toBe(200);
  const document = JSON.parse(text) as { paths: Record<string, object>; basePath: string };
  expect(await new Validator().validate(document)).toMatchObject({ valid: true });
  expect(document.basePath).toBe('/api/v1');
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  expect(operations).toHaveLength(ENDPOINTS.length + UPLOADS.length);
});
