import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { type Body, commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge({ environment: { FORGE_SIGNING_KEY: 'generate' } });
const at = '/repos/ada/signed';
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'signed', scene.folder);
  bare = await scene.bare('ada', 'signed');
});

/** A pull request of two commits into a base of its own. */
async function open(base: string, protection?: object): Promise<number> {
  await git(tree, 'push', '-q', 'origin', `main:refs/heads/${base}`);
  await pushBranch(tree, `${base}-head`, { [base]: '1' });
  await git(tree, 'checkout', '-q', `${base}-head`);
  await commit(tree, { [base]: '2' }, 'second');
  await git(tree, 'push', '-q', 'origin', `${base}-head`);
  const { body } = await ada.call('POST', `${at}/pulls`, { head: `${base}-head`, base, title: base });
  if (protection !== undefined)
    await ada.call('POST', `${at}/branch_protections`, { rule_name: base, ...protection });
  return body.number;
}

/** Commits that a branch has and main has not, newest first, and whether git takes our signature of each. */
async function signatures(branch: string): Promise<boolean[]> {
  const allowed = join(scene.folder, 'allowed');
  await writeFile(allowed, `croft ${(await ada.call('GET', '/signing-key.pub')).text}`);
  const config = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`];
  const commits = (await git(bare, 'rev-list', branch, '^main')).split('\n');
  return await Promise.all(
    commits.map((id) =>
      git(bare, ...config, 'verify-commit', id).then(
        () => true,
        () => false,
      ),
    ),
  );
}

it.each([
  ['merge', [true, false, false]],
  ['squash', [true]],
  ['rebase', [true, true]],
  ['rebase-merge', [true, true, true]],
  ['fast-forward-only', [false, false]],
])('what %s makes is signed, and git verifies it', async (style, expected) => {
  const number = await open(`by-${style}`);
  expect((await ada.call('POST', `${at}/pulls/${number}/merge`, { Do: style })).status).toBe(200);
  expect(await signatures(`by-${style}`)).toEqual(expected);
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
});

const verificationOf = ({ commit }: Body) => (commit as Body)['verification'];

it('what it signed is told as verified, and nothing else is', async () => {
  const number = await open('told');
  expect((await ada.call('POST', `${at}/pulls/${number}/merge`, { Do: 'merge' })).status).toBe(200);
  const { items } = await ada.call('GET', `${at}/commits?sha=told`);
  const [merge, second] = items.map(verificationOf);
  expect(merge).toMatchObject({
    verified: true,
    reason: expect.stringMatching(/^Croft \/ SHA256:\S{43}$/),
    signer: { name: 'Croft', email: '', username: '' },
    signature: expect.stringMatching(/^-----BEGIN SSH SIGNATURE-----/),
  });
  expect(second).toMatchObject({ verified: false, reason: 'gpg.error.not_signed_commit', signer: null });
  const branch = await ada.call('GET', `${at}/branches/told`);
  expect(verificationOf(branch.body)).toEqual(merge);

  // Its signature below other words is somebody's forgery.
  const raw = await git(bare, 'cat-file', 'commit', 'told');
  const file = join(scene.folder, 'forged');
  await writeFile(file, `${raw.replace(/\n\n.*$/s, '')}\n\nforged\n`);
  const forged = await git(bare, 'hash-object', '-t', 'commit', '-w', file);
  await git(bare, 'update-ref', 'refs/heads/forged', forged);
  const { body } = await ada.call('GET', `${at}/git/commits/${forged}`);
  expect(verificationOf(body)).toMatchObject({
    verified: false,
    reason: 'gpg.error.no_gpg_keys_found',
    signer: null,
  });
});

it.each([
  ['merge', 405],
  ['fast-forward-only', 405],
  ['squash', 200],
  ['rebase', 200],
  ['rebase-merge', 200],
])('where signed commits are required, %s is answered %i', async (style, status) => {
  const base = `only-${style}`;
  const number = await open(base, { require_signed_commits: true });
  const before = await git(bare, 'rev-parse', base);
  expect((await ada.call('POST', `${at}/pulls/${number}/merge`, { Do: style })).status).toBe(status);
  if (status === 405) expect(await git(bare, 'rev-parse', base)).toBe(before);
  else expect(await signatures(base)).not.toContain(false);
});

it('the key stays, and is shown', async () => {
  const shown = await ada.call('GET', '/signing-key.pub');
  expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/^ssh-ed25519 \S+\n$/)]);
  await scene.restart();
  expect((await ada.call('GET', '/signing-key.pub')).text).toBe(shown.text);
});
