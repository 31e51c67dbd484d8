import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gitEnvironment } from '@croft/testing';
import { expect, it } from 'vitest';
import { ENDPOINTS } from '../src/app.ts';
import { useForge } from './forge.ts';

const run = promisify(execFile);
const scene = useForge();
const document = await readFile(new URL('../../../docs/api/forge.md', import.meta.url), 'utf8');
const examples = [...document.matchAll(/^```(http|sh)\n([\s\S]*?)^```$/gm)].map(([, kind, text = '']) => ({
  kind,
  text,
}));

/** `:index(^\\d+)` of a route and `{index}` of OpenAPI are the same thing. */
const pattern = (path: string) => path.replace(/\(\^[^/]*?\$?\)(?=\.|\/|$)/g, '').replace(/:(\w+)/g, '{$1}');

it('every example of the contract works, in its order', async () => {
  const ada = scene.person('ada');
  for (const { kind, text } of examples) {
    if (kind === 'sh') {
      const env = { ...gitEnvironment, TOKEN: ada.token, FORGE: new URL(scene.address).host };
      await run('sh', ['-ec', text], { cwd: scene.folder, env });
      continue;
    }
    const [first = '', ...rest] = text.trim().split('\n');
    const [method = '', path = ''] = first.split(' ');
    const wanted = Number(rest.at(-1)?.replace('→ ', ''));
    const body = rest.length > 1 ? rest[0] : undefined;
    const { status, text: answer } = await ada.call(method, path, body);
    expect({ example: first, status, answer }).toMatchObject({ example: first, status: wanted });
  }
});

it('every endpoint has an example', () => {
  const shown = examples
    .filter(({ kind }) => kind === 'http')
    .map(({ text }) => text.split('\n', 1)[0] ?? '');
  const missing = ENDPOINTS.filter(([method, path]) => {
    const route = new RegExp(
      `^${method} ${pattern(path)
        .replaceAll('.', '\\.')
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
  expect(described).toHaveLength(ENDPOINTS.length);
  for (const [, , { summary }] of ENDPOINTS) expect(JSON.stringify(paths)).toContain(JSON.stringify(summary));
  const create = paths['/api/v1/repos/{owner}/{repo}/issues']?.['post'];
  expect(Object.keys(create?.responses ?? {})).toEqual(['201', '403', '404', '422', '423']);
  expect(JSON.stringify(create)).toContain('due_date');
});
