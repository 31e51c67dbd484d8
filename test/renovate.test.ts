import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { type Api, giteaApi } from 'gitea-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { findRenovate, runClient } from './support/programs.ts';

// Renovate itself, whose platform is Croft: each test is one of its runs over a repository with dependencies that are
// behind. Its registry is one of our own, so that what it finds is the same on every day.

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const renovate = findRenovate();
const at = ['ada', 'site'] as const;

let ada: Api<unknown>;
/** One run of Renovate, with settings besides those of every run; returns its log. */
let run: (settings?: Record<string, string>) => Promise<string>;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const openPulls = async () =>
  (await ada.repos.repoListPullRequests(...at, { state: 'open' })).data.map(({ number, title }) => ({
    number,
    title,
  }));

beforeAll(async () => {
  if (renovate === undefined) return;
  const { address, folder } = stack.use(await forgeForClients());
  ada = giteaApi(address, { token: accessToken('ada') });
  const bot = giteaApi(address, { token: accessToken('renovate') });
  await bot.user.userGetCurrent();
  const { sha1 = '' } = (await bot.users.userCreateToken('renovate', { name: 'ci', scopes: ['all'] })).data;
  await ada.user.createCurrentUserRepo({ name: 'site', auto_init: true, default_branch: 'main' });
  await ada.repos.repoAddCollaborator(...at, 'renovate', { permission: 'write' });
  await ada.repos.issueCreateLabel(...at, { name: 'dependencies', color: '#00aabb' });
  const dependencies = { 'left-pad': '1.0.0', 'right-pad': '1.0.0' };
  await ada.repos.repoCreateFile(...at, 'package.json', {
    content: base64(JSON.stringify({ name: 'site', dependencies }, null, 2)),
  });
  const registry = await startRegistry();
  const env = {
    RENOVATE_PLATFORM: 'gitea',
    RENOVATE_ENDPOINT: `${address}/api/v1`,
    RENOVATE_TOKEN: sha1,
    RENOVATE_GIT_AUTHOR: 'Renovate <renovate@example.test>',
    RENOVATE_BASE_DIR: join(folder, 'renovate'),
    RENOVATE_INTERNAL_HOST_ACCESS: 'allow',
    RENOVATE_NPMRC: `registry=${registry}/`,
    RENOVATE_FETCH_CHANGE_LOGS: 'off',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
  };
  run = async (settings = {}) =>
    await runClient(process.execPath, [renovate, 'ada/site'], { cwd: folder, env: { ...env, ...settings } });
  // Without anything to wait for, what is to be merged after its checks would be merged at once.
  const checks = { enable_push: true, enable_status_check: true, status_check_contexts: ['ci'] };
  await ada.repos.repoCreateBranchProtection(...at, { rule_name: 'main', ...checks });
});

/** A registry of packages: each exists as 1.0.0, 1.1.0 and 2.0.0. */
async function startRegistry(): Promise<string> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '/').slice(1));
    const version = (number: string) => ({ name, version: number, dist: { integrity: integrity(number) } });
    const numbers = ['1.0.0', '1.1.0', '2.0.0'];
    const versions = Object.fromEntries(numbers.map((number) => [number, version(number)]));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '2.0.0' }, versions }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const integrity = (number: string) => `sha512-${createHash('sha512').update(number).digest('base64')}`;

/** Messages of warnings and errors in a log, without what has nothing to do with the forge. */
function complaints(log: string): string[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  const entries = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(entries.length).toBeGreaterThan(100);
  return entries
    .filter(({ level, msg }) => level >= 40 && !/RE2|github\.com token/.test(msg))
    .map(({ msg }) => msg);
}

describe('Renovate', () => {
  beforeEach((context) => {
    if (renovate === undefined) skipWithout(context, 'Renovate');
  });

  it('introduces itself with a pull request', async () => {
    expect(complaints(await run())).toEqual([]);
    expect(await openPulls()).toEqual([{ number: 1, title: 'Configure Renovate' }]);
    const pull = (await ada.repos.repoGetPullRequest(...at, 1)).data;
    expect(pull).toMatchObject({ user: { login: 'renovate' }, head: { ref: 'renovate/configure' } });
    expect(pull.body).toContain('left-pad');
  });

  it('brings it up to date when it has another configuration to propose', async () => {
    const before = (await ada.repos.repoGetPullRequest(...at, 1)).data;
    const proposal = JSON.stringify({ extends: ['config:recommended', ':label(dependencies)'] });
    expect(complaints(await run({ RENOVATE_ONBOARDING_CONFIG: proposal }))).toEqual([]);
    expect(await openPulls()).toEqual([{ number: 1, title: 'Configure Renovate' }]);
    const after = (await ada.repos.repoGetPullRequest(...at, 1)).data;
    expect(after.head?.sha).not.toBe(before.head?.sha);
    expect(after.body).not.toBe(before.body);
    expect(after).toMatchObject({ mergeable: true, changed_files: 1 });
    expect((await ada.repos.repoGetPullRequestCommits(...at, 1)).data).toHaveLength(1);
    const { data } = await ada.repos.repoGetContents(...at, 'renovate.json', { ref: 'renovate/configure' });
    expect(Buffer.from(data.content ?? '', 'base64').toString()).toContain(':label(dependencies)');
  });

  it('finds it again, and the changes somebody made to it', async () => {
    const file = (await ada.repos.repoGetContents(...at, 'renovate.json', { ref: 'renovate/configure' }))
      .data;
    const config = {
      extends: ['config:recommended', ':dependencyDashboard'],
      labels: ['dependencies'],
      assignees: ['ada'],
      separateMajorMinor: true,
      packageRules: [{ matchPackageNames: ['right-pad'], matchUpdateTypes: ['minor'], automerge: true }],
    };
    await ada.repos.repoUpdateFile(...at, 'renovate.json', {
      branch: 'renovate/configure',
      content: base64(JSON.stringify(config)),
      sha: file.sha ?? '',
    });
    expect(complaints(await run())).toEqual([]);
    expect(await openPulls()).toEqual([{ number: 1, title: 'Configure Renovate' }]);
  });

  it('is introduced by itself, once that has passed its checks', async () => {
    const pull = async () => (await ada.repos.repoGetPullRequest(...at, 1)).data;
    await ada.repos.repoMergePullRequest(...at, 1, { Do: 'merge', merge_when_checks_succeed: true });
    expect(await pull()).toMatchObject({ merged: false, state: 'open' });
    const head = (await pull()).head?.sha ?? '';
    await ada.repos.repoCreateStatus(...at, head, { state: 'success', context: 'ci' });
    await expect.poll(pull).toMatchObject({ merged: true, merged_by: { login: 'ada' } });
  });

  it('opens a pull request for each update and an issue that lists them', async () => {
    expect(complaints(await run())).toEqual([]);
    expect(await openPulls()).toEqual([
      { number: 3, title: 'Update dependency right-pad to v1.1.0' },
      { number: 2, title: 'Update dependency left-pad to v1.1.0' },
    ]);
    const pull = (await ada.repos.repoGetPullRequest(...at, 2)).data;
    expect(pull).toMatchObject({
      labels: [{ name: 'dependencies' }],
      assignees: [{ login: 'ada' }],
      head: { ref: 'renovate/left-pad-1.x' },
    });
    const [dashboard] = (await ada.repos.issueListIssues(...at, { type: 'issues' })).data;
    expect(dashboard).toMatchObject({ title: 'Dependency Dashboard', user: { login: 'renovate' } });
    expect(dashboard?.body).toContain('left-pad');
  });

  it('merges what passes its checks, and keeps the rest up to date', async () => {
    const head = (await ada.repos.repoGetPullRequest(...at, 3)).data.head?.sha ?? '';
    await ada.repos.repoCreateStatus(...at, head, { state: 'success', context: 'ci' });
    // By the forge itself, as Renovate asked when it opened it.
    const merged = async () => (await ada.repos.repoGetPullRequest(...at, 3)).data;
    await expect.poll(merged).toMatchObject({ merged: true, merged_by: { login: 'renovate' } });
    expect(complaints(await run())).toEqual([]);
    const { content = '' } = (await ada.repos.repoGetContents(...at, 'package.json')).data;
    expect(JSON.parse(Buffer.from(content ?? '', 'base64').toString())).toMatchObject({
      dependencies: { 'left-pad': '1.0.0', 'right-pad': '1.1.0' },
    });
    expect(await openPulls()).toContainEqual({ number: 2, title: 'Update dependency left-pad to v1.1.0' });
  });
});
