/* oxlint-disable typescript/no-deprecated -- what the client calls old is still called by others */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import type { Api } from 'gitea-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { NotedClients, refusal, sure } from './support/gitea-client.ts';
import {
  clientOperations,
  compareWith,
  isAboutFollows,
  isAboutPulls,
  type Operation,
} from './support/gitea-operations.ts';

// A real client's daily work: gitea-js, for every operation it shares with the forge, except those that gitea-js-pulls.test.ts
// and gitea-js-follows.test.ts have. The tests build on one another, and the last one tells which none of them had answered.

const OPERATIONS = clientOperations();
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

let address: string;
let folder: string;
/** Ada with a personal token, her colleague Ben, and the site's administrator. */
let ada: Api<unknown>;
let ben: Api<unknown>;
let root: Api<unknown>;
let adaToken: string;
const clients = new NotedClients(() => address, OPERATIONS);
const clientWith = (token?: string) => clients.client(token);

beforeAll(async () => {
  ({ address, folder } = stack.use(await forgeForClients()));
  ada = clientWith(accessToken('ada'));
  ben = clientWith(accessToken('ben'));
  root = clientWith(accessToken('root', 'service_role'));
});

/** The wire's times are for `new Date`, and not from long ago. */
const isRecent = (time: string | undefined) =>
  expect(Math.abs(Date.now() - new Date(sure(time)).getTime())).toBeLessThan(600_000);
const names = (list: readonly { name?: string }[]) => list.map(({ name }) => name);
const logins = (list: readonly { login?: string }[]) => list.map(({ login }) => login);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const hook = (address = 'http://127.0.0.1:9/hook') => ({
  type: 'gitea' as const,
  config: { url: address, content_type: 'json' },
  events: ['push'],
  active: false,
});

describe('the server', () => {
  it('tells its version without being asked who one is, and its limits', async () => {
    const { data } = await clientWith().version.getVersion();
    expect(data.version).toMatch(/^1\.\d+\.\d+\+croft\./);
    expect((await ada.nodeinfo.getNodeInfo()).data).toMatchObject({
      version: '2.1',
      software: { name: 'croft' },
    });
    const limits = (await ada.settings.getGeneralApiSettings()).data;
    expect(limits).toMatchObject({ default_paging_num: 30, max_response_items: 50 });
    expect((await ada.settings.getGeneralAttachmentSettings()).data.enabled).toBe(true);
    expect((await ada.settings.getGeneralRepositorySettings()).data.time_tracking_disabled).toBe(false);
    expect((await ada.settings.getGeneralUiSettings()).data.allowed_reactions).toContain('heart');
  });

  it('has licences, ignored files and labels to begin with', async () => {
    expect((await ada.licenses.listLicenseTemplates()).data.map(({ key }) => key?.toLowerCase())).toContain(
      'mit',
    );
    expect((await ada.licenses.getLicenseTemplateInfo('mit')).data.body).toContain('WITHOUT WARRANTY');
    const templates = (await ada.gitignore.listGitignoresTemplates()).data;
    expect(templates).toContain('Node');
    expect((await ada.gitignore.getGitignoreTemplateInfo('Node')).data.source).toContain('node_modules');
    expect((await ada.label.listLabelTemplates()).data).toContain('Default');
    expect(names((await ada.label.getLabelTemplateInfo('Default')).data)).not.toEqual([]);
  });
});

describe('accounts and tokens', () => {
  it('begin with signing in', async () => {
    for (const [who, login] of [
      [ada, 'ada'],
      [ben, 'ben'],
      [root, 'root'],
    ] as const) {
      const { data } = await who.user.userGetCurrent();
      expect(data).toMatchObject({ login, email: `${login}@example.test`, is_admin: login === 'root' });
      isRecent(data.created);
    }
    expect(await refusal(clientWith().user.userGetCurrent())).toBe(401);
    expect(await refusal(clientWith('0').user.userGetCurrent())).toBe(401);
  });

  it('get a personal token, which works from then on and can be revoked', async () => {
    const made = (await ada.users.userCreateToken('ada', { name: 'laptop', scopes: ['all'] })).data;
    adaToken = sure(made.sha1);
    expect(adaToken).toMatch(/^[0-9a-f]{40}$/);
    await ada.users.userCreateToken('ada', { name: 'old', scopes: ['read:user'] });
    const listed = (await ada.users.userGetTokens('ada')).data;
    expect(names(listed).sort()).toEqual(['laptop', 'old']);
    expect(listed.every(({ sha1 }) => !sha1)).toBe(true);
    await ada.users.userDeleteAccessToken('ada', 'old');
    expect((await ada.users.userGetTokens('ada')).data).toMatchObject([
      { name: 'laptop', token_last_eight: adaToken.slice(-8) },
    ]);
    expect(await refusal(ben.users.userGetTokens('ada'))).toBe(403);
    // Everything from here on is done with the token, which is not enough for tokens.
    ada = clientWith(adaToken);
    expect(await refusal(ada.users.userGetTokens('ada'))).toBe(401);
  });

  it('are found and have settings', async () => {
    const settings = await ada.user.updateUserSettings({ full_name: 'Ada Lovelace', location: 'London' });
    expect(settings.data).toMatchObject({ full_name: 'Ada Lovelace', location: 'London' });
    expect((await ada.user.getUserSettings()).data.full_name).toBe('Ada Lovelace');
    for (const list of [
      ada.user.userCurrentListKeys(),
      ada.user.userCurrentListGpgKeys(),
      ada.users.userListKeys('ben'),
      ada.users.userListGpgKeys('ben'),
    ])
      expect((await list).data).toEqual([]);
    expect((await ada.user.userListEmails()).data).toMatchObject([
      { email: 'ada@example.test', primary: true, verified: true },
    ]);
    const found = await ben.users.userSearch({ q: 'ad' });
    expect(logins(sure(found.data.data))).toEqual(['ada']);
    expect((await ben.users.userGet('ada')).data).toMatchObject({ login: 'ada', full_name: 'Ada Lovelace' });
    expect(await refusal(ben.users.userGet('nobody'))).toBe(404);
  });
});

describe('organizations and teams', () => {
  let team: number;

  it('are made, shown and changed', async () => {
    const made = (await ada.orgs.orgCreate({ username: 'guild', full_name: 'The Guild' })).data;
    expect(made).toMatchObject({ name: 'guild', full_name: 'The Guild', visibility: 'public' });
    expect((await ada.orgs.orgEdit('guild', { description: 'of makers' })).data.description).toBe(
      'of makers',
    );
    expect((await ben.orgs.orgGet('guild')).data).toMatchObject({ id: made.id, description: 'of makers' });
    await root.admin.adminCreateOrg('ben', { username: 'club' });
    expect(names((await root.admin.adminGetAllOrgs()).data)).toEqual(
      expect.arrayContaining(['guild', 'club']),
    );
    expect(names((await ada.orgs.orgGetAll()).data)).toEqual(expect.arrayContaining(['guild', 'club']));
    expect(names((await ada.user.orgListCurrentUserOrgs()).data)).toEqual(['guild']);
    expect(names((await ada.users.orgListUserOrgs('ada')).data)).toEqual(['guild']);
    expect((await ada.users.orgGetUserPermissions('ada', 'guild')).data).toMatchObject({
      is_owner: true,
      can_create_repository: true,
    });
  });

  it('have teams with people', async () => {
    const made = (
      await ada.orgs.orgCreateTeam('guild', {
        name: 'smiths',
        permission: 'write',
        units: ['repo.code', 'repo.issues', 'repo.pulls'],
      })
    ).data;
    team = sure(made.id);
    expect(made).toMatchObject({ name: 'smiths', permission: 'write', can_create_org_repo: false });
    const edited = await ada.teams.orgEditTeam(team, { name: 'smiths', can_create_org_repo: true });
    expect(edited.data.can_create_org_repo).toBe(true);
    await ada.teams.orgAddTeamMember(team, 'ben');
    expect(logins((await ada.teams.orgListTeamMembers(team)).data)).toEqual(['ben']);
    expect((await ada.teams.orgListTeamMember(team, 'ben')).data.login).toBe('ben');
    expect((await ben.teams.orgGetTeam(team)).data.organization).toMatchObject({ name: 'guild' });
    expect(names((await ben.user.userListTeams()).data)).toContain('smiths');
    expect(names((await ada.orgs.orgListTeams('guild')).data).sort()).toEqual(['Owners', 'smiths']);
    expect((await ada.orgs.teamSearch('guild', { q: 'smi' })).data.data).toMatchObject([{ id: team }]);
  });

  it('show who belongs to them', async () => {
    expect(logins((await ada.orgs.orgListMembers('guild')).data).sort()).toEqual(['ada', 'ben']);
    expect((await ada.orgs.orgIsMember('guild', 'ben')).status).toBe(204);
    expect(await refusal(root.orgs.orgIsPublicMember('guild', 'ben'))).toBe(404);
    await ben.orgs.orgPublicizeMember('guild', 'ben');
    expect((await root.orgs.orgIsPublicMember('guild', 'ben')).status).toBe(204);
    expect(logins((await root.orgs.orgListPublicMembers('guild')).data)).toEqual(['ben']);
    await ben.orgs.orgConcealMember('guild', 'ben');
    expect((await root.orgs.orgListPublicMembers('guild')).data).toEqual([]);
  });

  it('have repositories, which teams reach', async () => {
    const made = (await ada.orgs.createOrgRepo('guild', { name: 'forge', auto_init: true })).data;
    expect(made).toMatchObject({ full_name: 'guild/forge', empty: false, private: false });
    await ben.org.createOrgRepoDeprecated('guild', { name: 'anvil' });
    expect(names((await ada.orgs.orgListRepos('guild')).data).sort()).toEqual(['anvil', 'forge']);
    await ada.teams.orgAddTeamRepository(team, 'guild', 'forge');
    expect(names((await ada.teams.orgListTeamRepos(team)).data)).toEqual(['forge']);
    expect((await ada.teams.orgListTeamRepo(team, 'guild', 'forge')).data.full_name).toBe('guild/forge');
    await ada.teams.orgRemoveTeamRepository(team, 'guild', 'forge');
    expect((await ada.teams.orgListTeamRepos(team)).data).toEqual([]);

    await ada.repos.repoAddTeam('guild', 'forge', 'smiths');
    expect((await ada.repos.repoCheckTeam('guild', 'forge', 'smiths')).data.name).toBe('smiths');
    expect(names((await ada.repos.repoListTeams('guild', 'forge')).data)).toContain('smiths');
    await ada.repos.repoDeleteTeam('guild', 'forge', 'smiths');
    expect(await refusal(ada.repos.repoCheckTeam('guild', 'forge', 'smiths'))).toBe(404);
  });

  it('have labels for all their repositories', async () => {
    const { data } = await ada.orgs.orgCreateLabel('guild', { name: 'everywhere', color: '#00aabb' });
    const id = sure(data.id);
    expect(data).toMatchObject({ name: 'everywhere', color: '00aabb' });
    expect((await ada.orgs.orgEditLabel('guild', id, { description: 'in all' })).data.description).toBe(
      'in all',
    );
    expect((await ben.orgs.orgGetLabel('guild', id)).data.description).toBe('in all');
    expect(names((await ben.orgs.orgListLabels('guild')).data)).toEqual(['everywhere']);
    await ada.orgs.orgDeleteLabel('guild', id);
    expect((await ben.orgs.orgListLabels('guild')).data).toEqual([]);
  });

  it('lose members, teams and themselves', async () => {
    await ada.teams.orgRemoveTeamMember(team, 'ben');
    await ada.teams.orgAddTeamMember(team, 'ben');
    await ada.orgs.orgDeleteMember('guild', 'ben');
    expect(await refusal(ada.orgs.orgIsMember('guild', 'ben'))).toBe(404);
    await ada.teams.orgDeleteTeam(team);
    expect(await refusal(ada.teams.orgGetTeam(team))).toBe(404);
    await ben.orgs.orgDelete('club');
    expect(await refusal(ben.orgs.orgGet('club'))).toBe(404);
  });
});

describe('repositories', () => {
  it('are made, found and changed', async () => {
    const made = (
      await ada.user.createCurrentUserRepo({
        name: 'garden',
        description: 'A garden',
        auto_init: true,
        license: 'MIT',
        gitignores: 'Node',
        default_branch: 'main',
      })
    ).data;
    expect(made).toMatchObject({ full_name: 'ada/garden', default_branch: 'main', private: false });
    expect(made.permissions).toEqual({ admin: true, push: true, pull: true });
    isRecent(made.created_at);
    expect((await ben.repositories.repoGetById(sure(made.id))).data.full_name).toBe('ada/garden');
    const edited = await ada.repos.repoEdit('ada', 'garden', {
      website: 'https://garden.test',
      has_issues: true,
    });
    expect(edited.data.website).toBe('https://garden.test');
    expect((await ben.repos.repoGet('ada', 'garden')).data.permissions).toMatchObject({
      push: false,
      pull: true,
    });
    expect((await ada.repos.repoGetLicenses('ada', 'garden')).data).toEqual(['MIT']);
    expect(names((await ada.user.userCurrentListRepos()).data)).toContain('garden');
    expect(names((await ben.users.userListRepos('ada')).data)).toEqual(['garden']);
    const found = await ben.repos.repoSearch({ q: 'gard', limit: 10 });
    expect(found.data).toMatchObject({ ok: true, data: [{ full_name: 'ada/garden' }] });
    await root.admin.adminCreateRepo('ben', { name: 'given' });
    expect((await ben.repos.repoGet('ben', 'given')).data.owner?.login).toBe('ben');
  });

  it('are filed under topics', async () => {
    await ada.repos.repoUpdateTopics('ada', 'garden', { topics: ['plants'] });
    await ada.repos.repoAddTopic('ada', 'garden', 'soil');
    expect((await ben.repos.repoListTopics('ada', 'garden')).data.topics).toEqual(['plants', 'soil']);
    const found = (await ben.topics.topicSearch({ q: 'soi' })).data as unknown as {
      topics: { topic_name: string }[];
    };
    expect(found.topics).toMatchObject([{ topic_name: 'soil' }]);
    await ada.repos.repoDeleteTopic('ada', 'garden', 'soil');
    expect((await ben.repos.repoListTopics('ada', 'garden')).data.topics).toEqual(['plants']);
  });

  it('have stars and are watched', async () => {
    await ben.user.userCurrentPutStar('ada', 'garden');
    expect((await ben.user.userCurrentCheckStarring('ada', 'garden')).status).toBe(204);
    expect(names((await ben.user.userCurrentListStarred()).data)).toEqual(['garden']);
    expect(names((await ada.users.userListStarred('ben')).data)).toEqual(['garden']);
    expect(logins((await ada.repos.repoListStargazers('ada', 'garden')).data)).toEqual(['ben']);
    expect((await ada.repos.repoGet('ada', 'garden')).data.stars_count).toBe(1);
    await ben.user.userCurrentDeleteStar('ada', 'garden');
    expect(await refusal(ben.user.userCurrentCheckStarring('ada', 'garden'))).toBe(404);

    expect((await ben.repos.userCurrentPutSubscription('ada', 'garden')).data.subscribed).toBe(true);
    expect((await ben.repos.userCurrentCheckSubscription('ada', 'garden')).data.subscribed).toBe(true);
    expect(logins((await ada.repos.repoListSubscribers('ada', 'garden')).data)).toContain('ben');
    expect(names((await ben.user.userCurrentListSubscriptions()).data)).toContain('garden');
    expect(names((await ben.users.userListSubscriptions('ben')).data)).toContain('garden');
    await ben.repos.userCurrentDeleteSubscription('ada', 'garden');
    expect(await refusal(ben.repos.userCurrentCheckSubscription('ada', 'garden'))).toBe(404);
  });

  it('are opened to others', async () => {
    await ada.repos.repoAddCollaborator('ada', 'garden', 'ben', { permission: 'write' });
    expect((await ada.repos.repoCheckCollaborator('ada', 'garden', 'ben')).status).toBe(204);
    expect(logins((await ada.repos.repoListCollaborators('ada', 'garden')).data)).toEqual(['ben']);
    const { data } = await ada.repos.repoGetRepoPermissions('ada', 'garden', 'ben');
    expect(data).toMatchObject({ permission: 'write', role_name: 'write', user: { login: 'ben' } });
    expect(logins((await ada.repos.repoGetAssignees('ada', 'garden')).data).sort()).toEqual(['ada', 'ben']);
    expect(logins((await ada.repos.repoGetReviewers('ada', 'garden')).data)).toContain('ben');
    await ada.repos.repoAddCollaborator('ada', 'garden', 'root', { permission: 'read' });
    await ada.repos.repoDeleteCollaborator('ada', 'garden', 'root');
    expect(await refusal(ada.repos.repoCheckCollaborator('ada', 'garden', 'root'))).toBe(404);
  });

  it('are forked', async () => {
    const fork = (await ben.repos.createFork('ada', 'garden', { name: 'garden-of-ben' })).data;
    expect(fork).toMatchObject({
      full_name: 'ben/garden-of-ben',
      fork: true,
      parent: { full_name: 'ada/garden' },
    });
    expect(names((await ada.repos.listForks('ada', 'garden')).data)).toEqual(['garden-of-ben']);
    expect((await ada.repos.repoGet('ada', 'garden')).data.forks_count).toBe(1);
    const { data } = await ben.repos.repoMergeUpstream('ben', 'garden-of-ben', { branch: 'main' });
    expect(data).toEqual({ merge_type: 'up-to-date' });
  });

  it('are made of a template', async () => {
    await ada.repos.repoEdit('ada', 'garden', { template: true });
    const wanted = { owner: 'ben', name: 'plot', git_content: true, topics: true };
    const made = (await ben.repos.generateRepo('ada', 'garden', wanted)).data;
    expect(made).toMatchObject({ full_name: 'ben/plot', fork: false, empty: false, topics: ['plants'] });
    await ben.repos.repoDelete('ben', 'plot');
  });

  it('are given away, if the other one wants them', async () => {
    await ada.user.createCurrentUserRepo({ name: 'present', auto_init: true });
    await ada.repos.repoTransfer('ada', 'present', { new_owner: 'ben' });
    expect((await ben.repos.rejectRepoTransfer('ada', 'present')).data.full_name).toBe('ada/present');
    await ada.repos.repoTransfer('ada', 'present', { new_owner: 'ben' });
    expect((await ben.repos.acceptRepoTransfer('ada', 'present')).data.full_name).toBe('ben/present');
    await ben.repos.repoDelete('ben', 'present');
    expect(await refusal(ben.repos.repoGet('ben', 'present'))).toBe(404);
  });
});

describe('files, branches, tags and commits', () => {
  let head: string;

  it('come with a push', async () => {
    const work = join(folder, 'garden');
    const remote = `${address.replace('://', `://ada:${adaToken}@`)}/ada/garden.git`;
    await git(folder, 'clone', '-q', remote, work);
    await writeFile(join(work, 'rose.js'), 'export const rose = 1;\n');
    await git(work, 'add', '.');
    await git(work, 'commit', '-q', '-m', 'a rose');
    await git(work, 'tag', '-a', '-m', 'first', 'v1');
    await git(work, 'notes', 'add', '-m', 'smells');
    await git(work, 'push', '-q', 'origin', 'main', 'v1', 'refs/notes/commits');
    head = await git(work, 'rev-parse', 'HEAD');
    const { data } = await ada.repos.repoGetAllCommits('ada', 'garden', { limit: 1 });
    expect(data).toMatchObject([{ sha: head, commit: { message: 'a rose\n' }, author: { login: 'ada' } }]);
    isRecent(data[0]?.created);
  });

  it('are read', async () => {
    const at = ['ada', 'garden'] as const;
    expect(names((await ada.repos.repoGetContentsList(...at)).data)).toEqual(
      expect.arrayContaining(['.gitignore', 'LICENSE', 'README.md', 'rose.js']),
    );
    const rose = (await ada.repos.repoGetContents(...at, 'rose.js')).data;
    expect(Buffer.from(sure(rose.content), 'base64').toString()).toBe('export const rose = 1;\n');
    const text = { format: 'text' } as const;
    expect((await ada.repos.repoGetRawFile(...at, 'rose.js', {}, text)).data).toBe(
      'export const rose = 1;\n',
    );
    expect((await ada.repos.repoGetRawFileOrLfs(...at, 'rose.js', {}, text)).data).toContain('rose');
    const archive = await ada.repos.repoGetArchive(...at, 'main.zip', { format: 'arrayBuffer' });
    expect(Buffer.from(archive.data as unknown as ArrayBuffer).subarray(0, 2)).toEqual(Buffer.from('PK'));
    expect((await ada.repos.repoGetLanguages(...at)).data).toMatchObject({ JavaScript: 23 });
  });

  it('are told apart by git’s own names', async () => {
    const at = ['ada', 'garden'] as const;
    const tree = (await ada.repos.getTree(...at, head, { recursive: true })).data;
    const blob = sure(tree.tree?.find(({ path }) => path === 'rose.js'));
    expect(blob).toMatchObject({ type: 'blob', size: 23, mode: '100644' });
    expect((await ada.repos.getBlob(...at, sure(blob.sha))).data).toMatchObject({
      encoding: 'base64',
      size: 23,
    });
    const refs = (await ada.repos.repoListAllGitRefs(...at)).data;
    expect(refs.map(({ ref }) => ref)).toEqual(expect.arrayContaining(['refs/heads/main', 'refs/tags/v1']));
    const [tag] = (await ada.repos.repoListGitRefs(...at, 'tags/v1')).data;
    expect(tag?.object?.type).toBe('tag');
    const annotated = (await ada.repos.getAnnotatedTag(...at, sure(tag?.object?.sha))).data;
    expect(annotated).toMatchObject({ tag: 'v1', message: 'first\n', object: { sha: head } });
    expect((await ada.repos.repoGetNote(...at, head)).data.message).toBe('smells\n');
    const commit = (await ada.repos.repoGetSingleCommit(...at, head)).data;
    expect(commit).toMatchObject({
      stats: { additions: 1, deletions: 0, total: 1 },
      files: [{ filename: 'rose.js' }],
    });
    const diff = await ada.repos.repoDownloadCommitDiffOrPatch(...at, head, 'diff', { format: 'text' });
    expect(diff.data).toContain('+export const rose = 1;');
  });

  it('are written without git', async () => {
    const at = ['ada', 'garden'] as const;
    const made = await ada.repos.repoCreateFile(...at, 'beds/one.txt', {
      content: base64('one'),
      message: 'a bed',
    });
    expect(made.data).toMatchObject({ content: { path: 'beds/one.txt' }, commit: { message: 'a bed\n' } });
    const sha = sure(made.data.content?.sha);
    const changed = await ada.repos.repoUpdateFile(...at, 'beds/one.txt', { content: base64('two'), sha });
    expect(changed.data.content?.sha).not.toBe(sha);
    const stale = ada.repos.repoDeleteFile(...at, 'beds/one.txt', { sha });
    expect([409, 422]).toContain(await refusal(stale));
    await ada.repos.repoDeleteFile(...at, 'beds/one.txt', { sha: sure(changed.data.content?.sha) });
    expect(await refusal(ada.repos.repoGetContents(...at, 'beds/one.txt'))).toBe(404);
    const several = await ada.repos.repoChangeFiles(...at, {
      message: 'two at once',
      new_branch: 'beds/spring',
      files: [
        { operation: 'create', path: 'a.txt', content: base64('a') },
        { operation: 'create', path: 'b.txt', content: base64('b') },
      ],
    });
    expect(several.data.files).toMatchObject([{ path: 'a.txt' }, { path: 'b.txt' }]);
    const compared = (await ada.repos.repoCompareDiff(...at, 'main...beds/spring')).data;
    expect(compared).toMatchObject({ total_commits: 1, commits: [{ commit: { message: 'two at once\n' } }] });
  });

  it('have branches and tags', async () => {
    const at = ['ada', 'garden'] as const;
    const made = (await ada.repos.repoCreateBranch(...at, { new_branch_name: 'old', old_ref_name: 'main' }))
      .data;
    expect(made).toMatchObject({ name: 'old', protected: false, user_can_push: true });
    isRecent(made.commit?.timestamp);
    await ada.repos.repoUpdateBranch(...at, 'old', { name: 'renamed' });
    expect((await ada.repos.repoGetBranch(...at, 'beds/spring')).data.name).toBe('beds/spring');
    expect(names((await ada.repos.repoListBranches(...at)).data).sort()).toEqual([
      'beds/spring',
      'main',
      'renamed',
    ]);
    await ada.repos.repoDeleteBranch(...at, 'renamed');
    expect(await refusal(ada.repos.repoGetBranch(...at, 'renamed'))).toBe(404);

    const tag = (await ada.repos.repoCreateTag(...at, { tag_name: 'v2', target: 'main', message: 'second' }))
      .data;
    expect(tag).toMatchObject({ name: 'v2', message: expect.stringContaining('second') });
    expect((await ada.repos.repoGetTag(...at, 'v1')).data.commit?.sha).toBe(head);
    expect(names((await ada.repos.repoListTags(...at)).data).sort()).toEqual(['v1', 'v2']);
    await ada.repos.repoDeleteTag(...at, 'v2');
    expect(names((await ada.repos.repoListTags(...at)).data)).toEqual(['v1']);
  });

  it('are released', async () => {
    const at = ['ada', 'garden'] as const;
    const wanted = { tag_name: 'beds/v3', target_commitish: 'main', name: 'Spring', body: 'Beds' };
    const made = (await ada.repos.repoCreateRelease(...at, { ...wanted, draft: true })).data;
    const id = sure(made.id);
    expect(made).toMatchObject({ ...wanted, draft: true, prerelease: false, author: { login: 'ada' } });
    isRecent(made.created_at);
    const attachment = new File(['seeds'], 'seeds.tar.gz', { type: 'application/gzip' });
    const file = (await ada.repos.repoCreateReleaseAttachment(...at, id, { attachment })).data;
    const fileId = sure(file.id);
    const name = { name: 'seeds.tgz' };
    expect((await ada.repos.repoEditReleaseAttachment(...at, id, fileId, name)).data.name).toBe(name.name);
    expect(await refusal(ada.repos.repoGetLatestRelease(...at))).toBe(404);
    expect(await refusal(ada.repos.repoGetTag(...at, wanted.tag_name))).toBe(404);

    const published = (await ada.repos.repoEditRelease(...at, id, { draft: false })).data;
    isRecent(published.published_at);
    expect((await ben.repos.repoGetLatestRelease(...at)).data.assets).toMatchObject([
      { id: fileId, ...name },
    ]);
    expect((await ben.repos.repoGetTag(...at, wanted.tag_name)).data.commit?.sha).toBeTruthy();
    expect((await ben.repos.repoGetReleaseByTag(...at, wanted.tag_name)).data.id).toBe(id);
    expect((await ben.repos.repoGetRelease(...at, id)).data).toMatchObject({ ...wanted, draft: false });
    expect(names((await ben.repos.repoListReleases(...at, { 'pre-release': false })).data)).toEqual([
      'Spring',
    ]);
    expect(names((await ben.repos.repoListReleaseAttachments(...at, id)).data)).toEqual([name.name]);
    expect((await ben.repos.repoGetReleaseAttachment(...at, id, fileId)).data.size).toBe(5);
    await ada.repos.repoDeleteReleaseAttachment(...at, id, fileId);
    await ada.repos.repoDeleteRelease(...at, id);
    await ada.repos.repoCreateRelease(...at, { tag_name: wanted.tag_name, prerelease: true });
    await ada.repos.repoDeleteReleaseByTag(...at, wanted.tag_name);
    expect((await ben.repos.repoListReleases(...at)).data).toEqual([]);
    await ada.repos.repoDeleteTag(...at, wanted.tag_name);
  });

  it('are protected', async () => {
    const at = ['ada', 'garden'] as const;
    const made = await ada.repos.repoCreateBranchProtection(...at, {
      rule_name: 'release',
      required_approvals: 1,
    });
    expect(made.data).toMatchObject({ rule_name: 'release', required_approvals: 1, enable_push: false });
    isRecent(made.data.created_at);
    const edited = await ada.repos.repoEditBranchProtection(...at, 'release', { enable_push: true });
    expect(edited.data).toMatchObject({ enable_push: true, required_approvals: 1 });
    expect((await ada.repos.repoGetBranchProtection(...at, 'release')).data.enable_push).toBe(true);
    await ada.repos.repoCreateBranchProtection(...at, { rule_name: 'next' });
    // Its types lack the ids that the order is told by.
    const rules = async () =>
      (await ada.repos.repoListBranchProtection(...at)).data as { id: number; rule_name: string }[];
    const ids = (await rules()).map(({ id }) => id);
    await ada.repos.repoUpdateBranchProtectionPriories(...at, { ids: ids.reverse() });
    expect((await rules()).map((rule) => rule.rule_name)).toEqual(['next', 'release']);
    await ada.repos.repoDeleteBranchProtection(...at, 'next');
    await ada.repos.repoDeleteBranchProtection(...at, 'release');
    expect((await ada.repos.repoListBranchProtection(...at)).data).toEqual([]);
  });

  it('have protected tags', async () => {
    const at = ['ada', 'garden'] as const;
    const wanted = { name_pattern: 'v*', whitelist_usernames: ['ada'] };
    const made = (await ada.repos.repoCreateTagProtection(...at, wanted)).data;
    const id = sure(made.id);
    expect(made).toMatchObject({ ...wanted, whitelist_teams: [] });
    isRecent(made.created_at);
    isRecent(made.updated_at);
    expect(await refusal(ben.repos.repoCreateTag(...at, { tag_name: 'v3' }))).toBe(422);
    const change = { name_pattern: '/^v\\d+$/' };
    expect((await ada.repos.repoEditTagProtection(...at, id, change)).data).toMatchObject({
      ...wanted,
      ...change,
    });
    expect((await ada.repos.repoGetTagProtection(...at, id)).data.name_pattern).toBe('/^v\\d+$/');
    expect((await ada.repos.repoListTagProtection(...at)).data).toMatchObject([{ id }]);
    await ada.repos.repoDeleteTagProtection(...at, id);
    expect((await ada.repos.repoListTagProtection(...at)).data).toEqual([]);
  });

  it('have statuses', async () => {
    const at = ['ada', 'garden'] as const;
    const made = await ben.repos.repoCreateStatus(...at, head, {
      state: 'success',
      context: 'ci',
      description: 'ok',
    });
    expect(made.data).toMatchObject({ status: 'success', context: 'ci', creator: { login: 'ben' } });
    await ben.repos.repoCreateStatus(...at, head, { state: 'failure', context: 'lint' });
    expect((await ada.repos.repoListStatuses(...at, head)).data).toHaveLength(2);
    expect((await ada.repos.repoListStatusesByRef(...at, head, { state: 'failure' })).data).toMatchObject([
      { context: 'lint' },
    ]);
    const combined = (await ada.repos.repoGetCombinedStatusByRef(...at, head)).data;
    expect(combined).toMatchObject({ state: 'failure', total_count: 2, sha: head });
  });
});

describe('labels and milestones', () => {
  it('are made, changed and removed', async () => {
    const at = ['ada', 'garden'] as const;
    const bug = (await ada.repos.issueCreateLabel(...at, { name: 'bug', color: '#ff0000' })).data;
    const spare = (await ada.repos.issueCreateLabel(...at, { name: 'spare', color: '00ff00' })).data;
    expect(bug).toMatchObject({ color: 'ff0000', exclusive: false });
    expect((await ada.repos.issueEditLabel(...at, sure(bug.id), { color: '#ee0000' })).data.color).toBe(
      'ee0000',
    );
    expect((await ben.repos.issueGetLabel(...at, sure(bug.id))).data.color).toBe('ee0000');
    await ada.repos.issueDeleteLabel(...at, sure(spare.id));
    expect(names((await ben.repos.issueListLabels(...at)).data)).toEqual(['bug']);

    const due = '2031-05-01T00:00:00Z';
    const spring = (await ada.repos.issueCreateMilestone(...at, { title: 'spring', due_on: due })).data;
    expect(spring).toMatchObject({ title: 'spring', state: 'open', open_issues: 0 });
    expect(new Date(sure(spring.due_on)).getUTCFullYear()).toBe(2031);
    const id = String(sure(spring.id));
    const edited = await ada.repos.issueEditMilestone(...at, id, { description: 'sowing' });
    expect(edited.data).toMatchObject({ title: 'spring', description: 'sowing', state: 'open' });
    expect((await ada.repos.issueGetMilestone(...at, id)).data.description).toBe('sowing');
    const autumn = (await ada.repos.issueCreateMilestone(...at, { title: 'autumn' })).data;
    await ada.repos.issueDeleteMilestone(...at, String(autumn.id));
    expect((await ada.repos.issueGetMilestonesList(...at)).data).toMatchObject([{ title: 'spring' }]);
  });
});

describe('issues', () => {
  const at = ['ada', 'garden'] as const;

  it('are written, numbered and changed', async () => {
    const [label] = (await ada.repos.issueListLabels(...at)).data;
    const [milestone] = (await ada.repos.issueGetMilestonesList(...at)).data;
    const first = (
      await ada.repos.issueCreateIssue(...at, {
        title: 'Roses wilt',
        body: 'all of them',
        assignees: ['ben'],
        labels: [sure(label?.id)],
        milestone: sure(milestone?.id),
        due_date: '2031-04-30T10:00:00Z',
      })
    ).data;
    expect(first).toMatchObject({
      number: 1,
      state: 'open',
      user: { login: 'ada' },
      assignees: [{ login: 'ben' }],
      labels: [{ name: 'bug' }],
      milestone: { title: 'spring' },
      comments: 0,
      repository: { full_name: 'ada/garden' },
    });
    expect(new Date(sure(first.due_date)).toISOString()).toBe('2031-04-30T23:59:59.000Z');
    isRecent(first.created_at);
    for (const title of ['Water is out', 'Snails']) {
      await ben.repos.issueCreateIssue(...at, { title });
    }
    const closed = (await ada.repos.issueEditIssue(...at, 3, { state: 'closed' })).data;
    expect(closed).toMatchObject({ number: 3, state: 'closed' });
    isRecent(sure(closed.closed_at));
    expect((await ada.repos.issueGetIssue(...at, 1)).data.title).toBe('Roses wilt');
    const listed = await ada.repos.issueListIssues(...at, { state: 'all', limit: 2 });
    expect(listed.data.map(({ number }) => number)).toEqual([3, 2]);
    expect(listed.headers.get('x-total-count')).toBe('3');
    const found = (await ben.repos.issueSearchIssues({ q: 'wilt' })).data;
    expect(found).toMatchObject([{ number: 1, title: 'Roses wilt' }]);
    const deadline = await ada.repos.issueEditIssueDeadline(...at, 2, { due_date: '2031-06-01T00:00:00Z' });
    expect(new Date(sure(deadline.data.due_date)).getUTCMonth()).toBe(5);
  });

  it('are labelled', async () => {
    const [bug] = (await ada.repos.issueListLabels(...at)).data;
    const later = (await ada.repos.issueCreateLabel(...at, { name: 'later', color: '#0000ff' })).data;
    expect(names((await ada.repos.issueAddLabel(...at, 2, { labels: [sure(bug?.id)] })).data)).toEqual([
      'bug',
    ]);
    const replaced = await ada.repos.issueReplaceLabels(...at, 2, { labels: [sure(later.id)] });
    expect(names(replaced.data)).toEqual(['later']);
    expect(names((await ben.repos.issueGetLabels(...at, 2)).data)).toEqual(['later']);
    await ada.repos.issueRemoveLabel(...at, 2, sure(later.id));
    expect((await ben.repos.issueGetLabels(...at, 2)).data).toEqual([]);
    await ada.repos.issueAddLabel(...at, 2, { labels: ['bug', 'later'] });
    await ada.repos.issueClearLabels(...at, 2);
    expect((await ben.repos.issueGetLabels(...at, 2)).data).toEqual([]);
  });

  it('are talked about', async () => {
    const comment = (await ben.repos.issueCreateComment(...at, 1, { body: 'Too dry, see #2' })).data;
    const id = sure(comment.id);
    expect(comment).toMatchObject({ body: 'Too dry, see #2', user: { login: 'ben' } });
    isRecent(comment.created_at);
    const kinds = async (index: number) =>
      (await ada.repos.issueGetCommentsAndTimeline(...at, index)).data.map(({ type }) => type);
    // References follow soon after what was said, as it is then.
    await expect.poll(() => kinds(2)).toContain('comment_ref');
    expect((await ben.repos.issueEditComment(...at, id, { body: 'Too wet' })).data?.body).toBe('Too wet');
    expect((await ada.repos.issueGetComment(...at, id)).data?.body).toBe('Too wet');
    await ben.repos.issueEditCommentDeprecated(...at, 1, id, { body: 'Too cold' });
    expect((await ada.repos.issueGetComments(...at, 1)).data).toMatchObject([{ id, body: 'Too cold' }]);
    expect((await ada.repos.issueGetRepoComments(...at)).data).toMatchObject([{ id, body: 'Too cold' }]);
    expect(await kinds(1)).toContain('comment');
    expect(await kinds(2)).toEqual(expect.arrayContaining(['label', 'comment_ref']));
    expect((await ada.repos.issueGetIssue(...at, 1)).data.comments).toBe(1);

    await ada.repos.issuePostCommentReaction(...at, id, { content: 'heart' });
    expect((await ada.repos.issueGetCommentReactions(...at, id)).data).toMatchObject([
      { content: 'heart', user: { login: 'ada' } },
    ]);
    await ada.repos.issueDeleteCommentReaction(...at, id, { content: 'heart' });
    expect((await ada.repos.issueGetCommentReactions(...at, id)).data ?? []).toEqual([]);
    await ben.repos.issueDeleteComment(...at, id);
    const other = (await ben.repos.issueCreateComment(...at, 1, { body: 'again' })).data;
    await ben.repos.issueDeleteCommentDeprecated(...at, 1, sure(other.id));
    expect((await ada.repos.issueGetComments(...at, 1)).data).toEqual([]);
  });

  it('have files', async () => {
    const attachment = new File(['wilted'], 'rose.txt', { type: 'text/plain' });
    const added = (await ben.repos.issueCreateIssueAttachment(...at, 2, { attachment })).data;
    const id = sure(added.id);
    expect(added).toMatchObject({ name: 'rose.txt', size: 6, download_count: 0 });
    isRecent(added.created_at);
    const renamed = await ben.repos.issueEditIssueAttachment(...at, 2, id, { name: 'tulip.txt' });
    expect(renamed.data.name).toBe('tulip.txt');
    expect((await ada.repos.issueGetIssueAttachment(...at, 2, id)).data.name).toBe('tulip.txt');
    expect(names((await ada.repos.issueListIssueAttachments(...at, 2)).data)).toEqual(['tulip.txt']);
    await ben.repos.issueDeleteIssueAttachment(...at, 2, id);
    expect((await ada.repos.issueListIssueAttachments(...at, 2)).data).toEqual([]);

    const comment = sure((await ben.repos.issueCreateComment(...at, 2, { body: 'see the file' })).data.id);
    const query = { name: 'named.txt' };
    const sent = await ben.repos.issueCreateIssueCommentAttachment(...at, comment, { attachment }, query);
    const other = sure(sent.data.id);
    expect(sent.data).toMatchObject({ name: 'named.txt', size: 6 });
    await ben.repos.issueEditIssueCommentAttachment(...at, comment, other, { name: 'again.txt' });
    expect((await ada.repos.issueGetIssueCommentAttachment(...at, comment, other)).data.name).toBe(
      'again.txt',
    );
    expect(names((await ada.repos.issueListIssueCommentAttachments(...at, comment)).data)).toEqual([
      'again.txt',
    ]);
    await ben.repos.issueDeleteIssueCommentAttachment(...at, comment, other);
    expect(await refusal(ada.repos.issueGetIssueCommentAttachment(...at, comment, other))).toBe(404);
  });

  it('have templates', async () => {
    const template = '---\nname: Pest\nabout: Something eats the plants\nlabels: [bug]\n---\nWhich one?\n';
    await ada.repos.repoCreateFile(...at, '.gitea/ISSUE_TEMPLATE/pest.md', { content: base64(template) });
    const config = 'blank_issues_enabled: false\n';
    await ada.repos.repoCreateFile(...at, '.gitea/ISSUE_TEMPLATE/config.yaml', { content: base64(config) });
    expect((await ben.repos.repoGetIssueTemplates(...at)).data).toMatchObject([
      { name: 'Pest', about: 'Something eats the plants', labels: ['bug'], content: 'Which one?\n' },
    ]);
    expect((await ben.repos.repoGetIssueConfig(...at)).data.blank_issues_enabled).toBe(false);
    expect((await ben.repos.repoValidateIssueConfig(...at)).data.valid).toBe(true);
  });

  it('are reacted to', async () => {
    expect((await ben.repos.issuePostIssueReaction(...at, 1, { content: '+1' })).data).toMatchObject({
      content: '+1',
    });
    expect((await ada.repos.issueGetIssueReactions(...at, 1)).data).toMatchObject([
      { user: { login: 'ben' } },
    ]);
    await ben.repos.issueDeleteIssueReaction(...at, 1, { content: '+1' });
    expect((await ada.repos.issueGetIssueReactions(...at, 1)).data ?? []).toEqual([]);
  });

  it('take time', async () => {
    const added = (await ben.repos.issueAddTime(...at, 1, { time: 120 })).data;
    expect(added).toMatchObject({ time: 120, user_name: 'ben' });
    isRecent(added.created);
    await ben.repos.issueAddTime(...at, 1, { time: 60 });
    expect((await ben.repos.issueTrackedTimes(...at, 1)).data.map(({ time }) => time)).toEqual([120, 60]);
    expect((await ada.repos.repoTrackedTimes(...at)).data).toHaveLength(2);
    expect((await ada.repos.userTrackedTimes(...at, 'ben')).data).toHaveLength(2);
    expect((await ben.user.userCurrentTrackedTimes()).data).toMatchObject([{ issue: { number: 1 } }, {}]);
    await ben.repos.issueDeleteTime(...at, 1, sure(added.id));
    await ben.repos.issueResetTime(...at, 1);
    expect((await ben.repos.issueTrackedTimes(...at, 1)).data).toEqual([]);

    await ben.repos.issueStartStopWatch(...at, 2);
    expect((await ben.user.userGetStopWatches()).data).toMatchObject([
      { issue_index: 2, repo_name: 'garden' },
    ]);
    await ben.repos.issueStopStopWatch(...at, 2);
    await ben.repos.issueStartStopWatch(...at, 2);
    await ben.repos.issueDeleteStopWatch(...at, 2);
    expect((await ben.user.userGetStopWatches()).data).toEqual([]);
  });

  it('wait for one another', async () => {
    const other = { owner: 'ada', repo: 'garden' };
    await ada.repos.issueCreateIssueDependencies(...at, '1', { ...other, index: 2 });
    expect((await ada.repos.issueListIssueDependencies(...at, '1')).data).toMatchObject([{ number: 2 }]);
    expect((await ada.repos.issueListBlocks(...at, '2')).data).toMatchObject([{ number: 1 }]);
    expect(await refusal(ada.repos.issueEditIssue(...at, 1, { state: 'closed' }))).toBe(412);
    await ada.repos.issueRemoveIssueDependencies(...at, '1', { ...other, index: 2 });
    await ada.repos.issueCreateIssueBlocking(...at, '1', { ...other, index: 2 });
    expect((await ada.repos.issueListIssueDependencies(...at, '2')).data).toMatchObject([{ number: 1 }]);
    await ada.repos.issueRemoveIssueBlocking(...at, '1', { ...other, index: 2 });
    expect((await ada.repos.issueListBlocks(...at, '1')).data).toEqual([]);
  });

  it('are pinned and subscribed to', async () => {
    await ada.repos.pinIssue(...at, 1);
    await ada.repos.pinIssue(...at, 2);
    await ada.repos.moveIssuePin(...at, 2, 1);
    expect((await ben.repos.repoListPinnedIssues(...at)).data.map(({ number }) => number)).toEqual([2, 1]);
    await ada.repos.unpinIssue(...at, 2);
    expect((await ben.repos.repoListPinnedIssues(...at)).data.map(({ number }) => number)).toEqual([1]);
    expect((await ben.repos.repoNewPinAllowed(...at)).data).toEqual({ issues: true, pull_requests: true });
    await root.repos.issueAddSubscription(...at, 1, 'root');
    expect((await root.repos.issueCheckSubscription(...at, 1)).data.subscribed).toBe(true);
    expect(logins((await ada.repos.issueSubscriptions(...at, 1)).data)).toContain('root');
    await root.repos.issueDeleteSubscription(...at, 1, 'root');
    expect(logins((await ada.repos.issueSubscriptions(...at, 1)).data)).not.toContain('root');
  });

  it('are deleted by whoever administrates', async () => {
    expect(await refusal(ben.repos.issueDelete(...at, 3))).toBe(403);
    await ada.repos.issueDelete(...at, 3);
    expect(await refusal(ada.repos.issueGetIssue(...at, 3))).toBe(404);
  });
});

describe('hooks', () => {
  it('of a repository', async () => {
    const at = ['ada', 'garden'] as const;
    const made = (await ada.repos.repoCreateHook(...at, hook())).data;
    const id = sure(made.id);
    expect(made).toMatchObject({ type: 'gitea', active: false, events: ['push'] });
    isRecent(made.created_at);
    const edited = await ada.repos.repoEditHook(...at, id, { events: ['issues'] });
    expect(edited.data.events).toEqual(expect.arrayContaining(['issues']));
    expect((await ada.repos.repoGetHook(...at, id)).data.config?.['url']).toBe('http://127.0.0.1:9/hook');
    expect((await ada.repos.repoTestHook(...at, id)).status).toBe(204);
    expect((await ada.repos.repoListHooks(...at)).data).toHaveLength(1);
    await ada.repos.repoDeleteHook(...at, id);
    expect((await ada.repos.repoListHooks(...at)).data).toEqual([]);
  });

  it('of an organization, of a person and of the site', async () => {
    const orgHook = sure((await ada.orgs.orgCreateHook('guild', hook())).data.id);
    expect((await ada.orgs.orgEditHook('guild', orgHook, { active: true })).data.active).toBe(true);
    expect((await ada.orgs.orgGetHook('guild', orgHook)).data.active).toBe(true);
    expect((await ada.orgs.orgListHooks('guild')).data).toHaveLength(1);
    await ada.orgs.orgDeleteHook('guild', orgHook);

    const userHook = sure((await ada.user.userCreateHook(hook())).data.id);
    expect((await ada.user.userEditHook(userHook, { branch_filter: 'main' })).data.branch_filter).toBe(
      'main',
    );
    expect((await ada.user.userGetHook(userHook)).data.branch_filter).toBe('main');
    expect((await ada.user.userListHooks()).data).toHaveLength(1);
    await ada.user.userDeleteHook(userHook);

    const systemHook = sure((await root.admin.adminCreateHook(hook())).data.id);
    const edited = await root.admin.adminEditHook(systemHook, { events: ['create'] });
    expect(edited.data.events).toEqual(expect.arrayContaining(['create']));
    expect((await root.admin.adminGetHook(systemHook)).data.id).toBe(systemHook);
    expect((await root.admin.adminListHooks()).data).toHaveLength(1);
    await root.admin.adminDeleteHook(systemHook);
    expect((await root.admin.adminListHooks()).data).toEqual([]);
  });
});

describe('notifications', () => {
  it('come to whoever is concerned, and are read', async () => {
    const at = ['ada', 'garden'] as const;
    const waiting = () => ben.notifications.notifyGetList().then(({ data }) => data);
    await ada.repos.issueCreateIssue(...at, { title: 'For @ben', body: 'look, @ben', assignees: ['ben'] });
    await expect
      .poll(async () => (await waiting()).map(({ subject }) => subject?.title))
      .toContain('For @ben');
    const [thread] = (await waiting()).filter(({ subject }) => subject?.title === 'For @ben');
    expect(thread).toMatchObject({
      unread: true,
      repository: { full_name: 'ada/garden' },
      subject: { type: 'Issue' },
    });
    const id = String(sure(thread?.id));
    expect((await ben.notifications.notifyNewAvailable()).data.new).toBeGreaterThan(0);
    expect((await ben.notifications.notifyGetThread(id)).data.unread).toBe(true);
    expect((await ben.repos.notifyGetRepoList(...at)).data.length).toBeGreaterThan(0);
    await ben.notifications.notifyReadThread(id);
    expect((await ben.notifications.notifyGetThread(id)).data.unread).toBe(false);
    await ben.repos.notifyReadRepoList(...at);
    await ben.notifications.notifyReadList();
    expect((await ben.notifications.notifyNewAvailable()).data.new).toBe(0);
  });
});

describe('the site', () => {
  it('shows its people to administrators, who remove them', async () => {
    expect(logins((await root.admin.adminSearchUsers()).data).sort()).toEqual(['ada', 'ben', 'root']);
    const leaver = clientWith(accessToken('leaver'));
    await leaver.user.userGetCurrent();
    await root.admin.adminRenameUser('leaver', { new_username: 'left' });
    await root.admin.adminDeleteUser('left');
    expect(await refusal(root.users.userGet('left'))).toBe(404);
    expect(await refusal(ada.admin.adminSearchUsers())).toBe(403);
  });
});

describe('what the client can do', () => {
  const compared = async () => {
    const document = await fetch(`${address}/api/v1/openapi.json`);
    return compareWith((await document.json()) as { paths: Record<string, object> }, OPERATIONS);
  };

  it('is known at all', () => {
    expect(OPERATIONS.length).toBeGreaterThan(300);
    expect(OPERATIONS).toContainEqual({ method: 'GET', path: '/version', name: 'version.getVersion' });
  });

  it('and the forge serves was done above, all of it', async () => {
    const { shared } = await compared();
    expect(shared.length).toBeGreaterThan(200);
    const elsewhere = (operation: Operation) => isAboutPulls(operation) || isAboutFollows(operation);
    expect(clients.unanswered(shared.filter((operation) => !elsewhere(operation)))).toEqual([]);
  });

  it('and the forge does not serve is in gitea-js-missing.txt', async () => {
    const { missing } = await compared();
    const lines = missing.map(({ method, path }) => `${path} ${method}`).sort();
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./gitea-js-missing.txt');
  });
});
