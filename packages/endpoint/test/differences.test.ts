import { readFileSync } from 'node:fs';
import { endpoint as reference } from '@octokit/endpoint';
import { describe, expect, test } from 'vitest';
import { endpoint, type RequestOptions } from '../src/index.ts';

process.env.TZ = 'UTC'; // the reference prints dates in local time

// Makes a call written down as arguments and tells its outcome in the words of DIFFERENCES.md.
function outcomeOf(builder: unknown, call: string): string {
  // oxlint-disable-next-line typescript/no-implied-eval -- the calls are text of our own document
  const args = new Function(`return [${call}]`)();
  const { baseUrl, headers: defaults } = (builder as typeof endpoint).DEFAULTS;
  let options: RequestOptions;
  try {
    options = (builder as (...args: unknown[]) => RequestOptions)(...args);
  } catch (error) {
    return error instanceof Error && error.name === 'EndpointError' ? `refused: ${error.message}` : 'throws';
  }
  const { method, url, headers, body } = options;
  const names = [...new Set([...Object.keys(defaults), ...Object.keys(headers)])];
  return [
    method.toLowerCase(),
    url.replace(new RegExp(`^${baseUrl}(?=[/?]|$)`), '').replace(baseUrl, '<base>'),
    ...(body === undefined ? [] : [JSON.stringify(body)]),
    ...names.filter((name) => headers[name] !== defaults[name]).map((name) => `${name}: ${headers[name]}`),
  ]
    .join(' ')
    .replaceAll('\n', '\\n')
    .replaceAll('vnd.github.', 'vnd.croft.');
}

const rows = readFileSync(new URL('../DIFFERENCES.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')));

describe('DIFFERENCES.md', () => {
  test('has rows, each a difference', () => {
    expect(rows.length).toBeGreaterThan(35);
    for (const [, call, theirs, ours] of rows) expect(theirs, call).not.toBe(ours);
  });

  test.each(rows)('%s %s', (_, call = '', theirs, ours) => {
    expect(outcomeOf(reference, call)).toBe(theirs);
    expect(outcomeOf(endpoint, call)).toBe(ours);
  });
});

describe('both agree', () => {
  test.each([
    `'GET /x'`,
    `'/x'`,
    `'patch /x', {a: 1}`,
    `{method: 'GET', url: '/orgs/{org}/repos', org: 'a', per_page: 5}`,
    `'GET /repos/{owner}/{repo}/issues', {owner: 'a', repo: 'b', state: 'open', labels: 'bug,ui', page: 2}`,
    `'GET /repos/:owner/:repo', {owner: 'a/b', repo: 'c d'}`,
    `'GET /repos/{owner}/{repo}/compare/:base...:head', {owner: 'a', repo: 'b', base: 'c', head: 'd:e'}`,
    `'GET /x/{a}', {a: "-._~!'()* %/ä🎈"}`,
    `'GET /x/{a}', {a: 0}`,
    `'GET /x/{a}', {a: false}`,
    `'GET /x/{a}', {a: 10n}`,
    `'GET /x/{a}', {a: ['b', 'c d', null]}`,
    `'GET /x/{a}', {a: {b: 1, c: 'd'}}`,
    `'GET /x/{a}/y', {}`,
    `'GET /x/{a}', {a: null}`,
    `'GET /x/{a}', {a: ''}`,
    `'GET /x/{+a}', {a: 'b/c d%20'}`,
    `'GET /x{#a}', {a: 'b/c'}`,
    `'GET /x{.a}{;b}{/c}', {a: 1, b: 2, c: 3}`,
    `'GET /x{?a,b}', {a: 1, b: 'c d'}`,
    `'GET /x?c=1{&a,b}', {a: 1, b: 2}`,
    `'GET /x{?a}', {a: 1, b: 2}`,
    `'GET /x{?q}', {q: 'a+b'}`,
    `'GET /search', {q: 'location:Jyväskylä+is:open a'}`,
    `'GET /x', {a: [1, 2]}`,
    `'GET /x', {a: '', b: 0, c: false, d: undefined}`,
    `'GET /x', {a: 10n ** 20n}`,
    `'GET /x?a=1', {b: 2}`,
    `'GET /ä'`,
    `'GET /[x]%20%zz'`,
    `'GET /a/'`,
    `'GET /a//'`,
    `'GET /a{/b}', {b: ''}`,
    `'GET /'`,
    `''`,
    `'HEAD /x', {a: 1}`,
    `'POST /x', {a: 1, b: [1], c: null, d: undefined}`,
    `'POST /x', {body: 1}`,
    `'POST /x'`,
    `'DELETE /x'`,
    `'DELETE /x', {a: 1}`,
    `'OPTIONS /x', {a: 1}`,
    `'PUT /x', {a: 1}`,
    `'PATCH /x', {a: 1}`,
    `'POST /x/{a}', {a: 1, b: 2}`,
    `'POST /x', {data: {a: 1}, b: 2}`,
    `'POST /x', {data: [1]}`,
    `'POST /x', {data: null}`,
    `'POST /x', {data: 0}`,
    `'POST https://uploads.example/assets{?name,label}', {name: 'a b', label: 'c', headers: {'content-type': 'text/plain', 'content-length': 14}, data: 'Hello'}`,
    `'GET https://h:8080/x/{a}', {a: 1}`,
    `'GET https://h/api/v3/'`,
    `'GET /x', {baseUrl: 'https://h/api', headers: {Authorization: 'token 1', 'X-A': 2}}`,
    `'GET /x', {headers: {'User-Agent': 'app', accept: undefined}}`,
    `'GET /x', {mediaType: {format: 'raw'}}`,
    `'GET /x', {mediaType: {format: 'text+json'}}`,
    `'GET /x', {mediaType: {format: 'raw'}, headers: {accept: 'application/vnd.github+json, text/html'}}`,
    `'GET /x', {mediaType: {format: 'raw'}, headers: {accept: 'application/octet-stream'}}`,
    `'GET /x', {mediaType: {previews: ['a']}}`,
    `'POST /graphql', {query: '{a}', mediaType: {previews: ['a', 'b-preview']}}`,
    `'POST /graphql', {query: '{a}', mediaType: {format: 'raw', previews: ['a']}}`,
    `'POST /graphql', {query: '{a}', headers: {accept: 'application/vnd.foo-preview,application/vnd.bar-preview'}, mediaType: {previews: ['baz']}}`,
    `'GET /x', {method: 'POST', url: '/y', a: 1}`,
  ])('%s', (call) => expect(outcomeOf(endpoint, call)).toBe(outcomeOf(reference, call)));
});
