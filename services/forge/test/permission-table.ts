import type { Need } from './permission-model.ts';

/** What a route needs, and a request that is in order if the caller may make it. */
export interface Row {
  needs: Need;
  /** Parameters of the path. `@word` stands for a thing of the place, `@me` for the caller's own name. */
  path?: Readonly<Record<string, string | number>>;
  query?: string;
  body?: object;
  /** Whether it changes something in a repository on the disk. */
  onDisk?: true;
}

/** Parameters that are the same nearly everywhere. */
export const USUAL_PATH = {
  owner: '@org',
  org: '@org',
  repo: 'thing',
  index: 1,
  username: 'owner',
  sha: '@head',
  ref: 'main',
};

const hook = { type: 'gitea', config: { url: 'http://127.0.0.1:9/', content_type: 'json' } };
const program = { name: 'fresh', redirect_uris: ['https://ci.example/done'] };
const file = { content: 'dGV4dAo=', message: 'a file' };
const form = new FormData();
form.set('attachment', new Blob(['text']), 'fresh.txt');
const files = (path: string, unit: 'issues' | 'code', at: NonNullable<Row['path']>): Record<string, Row> => ({
  [`GET ${path}`]: { needs: `see ${unit}`, path: at },
  [`POST ${path}`]: { needs: `write ${unit}`, path: at, body: form },
  [`GET ${path}/:attachment`]: { needs: `see ${unit}`, path: at },
  [`PATCH ${path}/:attachment`]: { needs: `write ${unit}`, path: at, body: { name: 'fresh.txt' } },
  [`DELETE ${path}/:attachment`]: { needs: `write ${unit}`, path: at },
});
const hooks = (path: string, needs: Need, id: string, delivery: string): Record<string, Row> => ({
  [`GET ${path}`]: { needs },
  [`POST ${path}`]: { needs, body: hook },
  [`GET ${path}/:id`]: { needs, path: { id } },
  [`PATCH ${path}/:id`]: { needs, path: { id }, body: { events: ['issues'] } },
  [`DELETE ${path}/:id`]: { needs, path: { id } },
  [`GET ${path}/:id/deliveries`]: { needs, path: { id } },
  [`POST ${path}/:id/deliveries/:delivery/redeliver`]: { needs, path: { id, delivery } },
});
const userHooks = hooks('/user/hooks', 'to be the owner, with private things', '@userHook', '@userDelivery');

/** A row for each route, by method and path. */
export const TABLE: Readonly<Record<string, Row>> = {
  'GET /version': { needs: 'nothing' },
  'GET /signing-key.pub': { needs: 'admittance' },
  'GET /repos/:owner/:repo/signing-key.pub': { needs: 'see' },
  'GET /nodeinfo': { needs: 'admittance' },
  'GET /settings/api': { needs: 'admittance' },
  'GET /settings/attachment': { needs: 'admittance' },
  'GET /settings/repository': { needs: 'admittance' },
  'GET /settings/ui': { needs: 'admittance' },
  'GET /licenses': { needs: 'nothing' },
  'GET /licenses/:name': { needs: 'nothing', path: { name: 'mit' } },
  'GET /gitignore/templates': { needs: 'nothing' },
  'GET /gitignore/templates/:name': { needs: 'nothing', path: { name: 'Node' } },
  'GET /label/templates': { needs: 'nothing' },
  'GET /label/templates/:name': { needs: 'nothing', path: { name: 'Default' } },

  // People
  'GET /user': { needs: 'an account' },
  'GET /user/emails': { needs: 'an account' },
  'GET /user/settings': { needs: 'an account' },
  'PATCH /user/settings': { needs: 'an account', body: { location: 'here' } },
  'GET /user/keys': { needs: 'an account' },
  'GET /user/gpg_keys': { needs: 'an account' },
  'GET /users/search': { needs: 'admittance' },
  'GET /users/:username': { needs: 'admittance' },
  'GET /users/:username/keys': { needs: 'admittance' },
  'GET /users/:username/gpg_keys': { needs: 'admittance' },
  'GET /user/followers': { needs: 'an account' },
  'GET /user/following': { needs: 'an account' },
  'GET /user/following/:username': { needs: 'an account', path: { username: 'guest' } },
  'PUT /user/following/:username': { needs: 'an account' },
  'DELETE /user/following/:username': { needs: 'an account' },
  'GET /users/:username/followers': { needs: 'admittance' },
  'GET /users/:username/following': { needs: 'admittance' },
  'GET /users/:username/following/:target': { needs: 'admittance', path: { target: 'guest' } },
  'GET /users/:username/tokens': { needs: 'to be the owner' },
  'POST /users/:username/tokens': {
    needs: 'to be the owner',
    body: { name: 'fresh', scopes: ['public-only', 'read:user'] },
  },
  'DELETE /users/:username/tokens/:token': { needs: 'to be the owner', path: { token: '@token' } },

  // Organizations
  'GET /orgs': { needs: 'admittance' },
  'POST /orgs': { needs: 'an account', body: { username: 'fresh' } },
  'GET /user/orgs': { needs: 'an account' },
  'GET /users/:username/orgs': { needs: 'admittance' },
  'GET /users/:username/orgs/:org/permissions': { needs: 'account, know', path: { username: '@me' } },
  'GET /orgs/:org': { needs: 'know' },
  'PATCH /orgs/:org': { needs: 'govern', body: { description: 'fresh' } },
  'DELETE /orgs/:org': { needs: 'govern', path: { org: '@emptyOrg' } },
  'POST /orgs/:org/rename': { needs: 'govern', body: { new_name: 'renamed' } },
  'GET /orgs/:org/members': { needs: 'know' },
  'GET /orgs/:org/members/:username': { needs: 'know' },
  'DELETE /orgs/:org/members/:username': { needs: 'govern', path: { username: 'guest' } },
  'GET /orgs/:org/public_members': { needs: 'know' },
  'GET /orgs/:org/public_members/:username': { needs: 'know' },
  'PUT /orgs/:org/public_members/:username': { needs: 'belong', path: { username: '@me' } },
  'DELETE /orgs/:org/public_members/:username': { needs: 'belong', path: { username: '@me' } },
  'GET /orgs/:org/repos': { needs: 'know' },
  'POST /orgs/:org/repos': { needs: 'govern', body: { name: 'fresh' } },
  'POST /org/:org/repos': { needs: 'govern', body: { name: 'fresh' } },
  'GET /orgs/:org/labels': { needs: 'know' },
  'POST /orgs/:org/labels': { needs: 'govern', body: { name: 'fresh', color: '#123456' } },
  'GET /orgs/:org/labels/:id': { needs: 'know', path: { id: '@orgLabel' } },
  'PATCH /orgs/:org/labels/:id': { needs: 'govern', path: { id: '@orgLabel' }, body: { name: 'fresh' } },
  'DELETE /orgs/:org/labels/:id': { needs: 'govern', path: { id: '@orgLabel' } },
  ...hooks('/orgs/:org/hooks', 'govern, with private things', '@orgHook', '@orgDelivery'),

  // Teams
  'GET /orgs/:org/teams': { needs: 'belong' },
  'POST /orgs/:org/teams': { needs: 'govern', body: { name: 'fresh', units: ['repo.code'] } },
  'GET /orgs/:org/teams/search': { needs: 'belong' },
  'GET /user/teams': { needs: 'an account' },
  'GET /teams/:id': { needs: 'join in the team', path: { id: '@team' } },
  'PATCH /teams/:id': { needs: 'lead the team', path: { id: '@team' }, body: { description: 'fresh' } },
  'DELETE /teams/:id': { needs: 'lead the team', path: { id: '@team' } },
  'GET /teams/:id/members': { needs: 'join in the team', path: { id: '@team' } },
  'GET /teams/:id/members/:username': {
    needs: 'join in the team',
    path: { id: '@team', username: 'guest' },
  },
  'PUT /teams/:id/members/:username': {
    needs: 'lead the team',
    path: { id: '@team', username: 'stranger' },
  },
  'DELETE /teams/:id/members/:username': {
    needs: 'lead the team',
    path: { id: '@team', username: 'guest' },
  },
  'GET /teams/:id/repos': { needs: 'join in the team', path: { id: '@team' } },
  'GET /teams/:id/repos/:org/:repo': { needs: 'join in the team, see', path: { id: '@team' } },
  'PUT /teams/:id/repos/:org/:repo': { needs: 'lead the team, see', path: { id: '@team' } },
  'DELETE /teams/:id/repos/:org/:repo': { needs: 'lead the team, see', path: { id: '@team' } },

  // The site
  'GET /admin/users': { needs: 'the site' },
  'DELETE /admin/users/:username': { needs: 'the site', path: { username: 'spare' } },
  'POST /admin/users/:username/rename': {
    needs: 'the site',
    path: { username: 'spare' },
    body: { new_username: 'renamed' },
  },
  'POST /admin/users/:username/orgs': { needs: 'the site', body: { username: 'fresh' } },
  'POST /admin/users/:username/repos': { needs: 'the site', body: { name: 'fresh' } },
  'GET /admin/orgs': { needs: 'the site' },
  ...hooks('/admin/hooks', 'the site', '@systemHook', '@systemDelivery'),

  // What people have
  ...userHooks,
  'GET /user/applications/oauth2': { needs: 'an account with private things' },
  'POST /user/applications/oauth2': { needs: 'an account with private things', body: program },
  'GET /user/applications/oauth2/:id': {
    needs: 'to be the owner, with private things',
    path: { id: '@oauthApplication' },
  },
  'PATCH /user/applications/oauth2/:id': {
    needs: 'to be the owner, with private things',
    path: { id: '@oauthApplication' },
    body: program,
  },
  'DELETE /user/applications/oauth2/:id': {
    needs: 'to be the owner, with private things',
    path: { id: '@oauthApplication' },
  },
  'GET /user/applications/grants': { needs: 'an account with private things' },
  'DELETE /user/applications/grants/:id': {
    needs: 'to be the owner, with private things',
    path: { id: '@oauthGrant' },
  },
  'GET /user/hooks': { needs: 'an account with private things' },
  'POST /user/hooks': { needs: 'an account with private things', body: hook },
  'GET /user/repos': { needs: 'an account' },
  'POST /user/repos': { needs: 'an account', body: { name: 'fresh' } },
  'GET /users/:username/repos': { needs: 'admittance' },
  'GET /user/starred': { needs: 'an account' },
  'GET /user/starred/:owner/:repo': { needs: 'account, see' },
  'PUT /user/starred/:owner/:repo': { needs: 'account, see' },
  'DELETE /user/starred/:owner/:repo': { needs: 'account, see' },
  'GET /users/:username/starred': { needs: 'admittance' },
  'GET /user/subscriptions': { needs: 'an account' },
  'GET /users/:username/subscriptions': { needs: 'admittance' },
  'GET /user/times': { needs: 'an account' },
  'GET /user/stopwatches': { needs: 'an account' },
  'GET /notifications': { needs: 'an account' },
  'PUT /notifications': { needs: 'an account' },
  'GET /notifications/new': { needs: 'an account' },
  'GET /notifications/threads/:id': { needs: 'a thread of the owner', path: { id: '@thread' } },
  'PATCH /notifications/threads/:id': { needs: 'a thread of the owner', path: { id: '@thread' } },

  // Repositories
  'GET /repos/search': { needs: 'admittance' },
  'GET /topics/search': { needs: 'admittance' },
  'GET /repositories/:id': { needs: 'see', path: { id: '@repository' } },
  'GET /repos/:owner/:repo': { needs: 'see' },
  'PATCH /repos/:owner/:repo': { needs: 'administrate', body: { description: 'fresh' } },
  'DELETE /repos/:owner/:repo': { needs: 'own', onDisk: true },
  'POST /repos/:owner/:repo/transfer': { needs: 'own', body: { new_owner: 'guest' } },
  'POST /repos/:owner/:repo/transfer/accept': { needs: 'be given', path: { repo: 'gift' } },
  'POST /repos/:owner/:repo/transfer/reject': { needs: 'be given or own', path: { repo: 'gift' } },
  'GET /repos/:owner/:repo/forks': { needs: 'see' },
  'POST /repos/:owner/:repo/forks': { needs: 'account, see code', body: { name: 'copy' } },
  'POST /repos/:owner/:repo/merge-upstream': { needs: 'write code', body: { branch: 'main' } },
  'POST /repos/:owner/:repo/generate': {
    needs: 'account, see code',
    body: { name: 'fresh', git_content: true, topics: true, labels: true },
  },
  'GET /repos/:owner/:repo/topics': { needs: 'see' },
  'PUT /repos/:owner/:repo/topics': { needs: 'administrate', body: { topics: ['fresh'] } },
  'PUT /repos/:owner/:repo/topics/:topic': { needs: 'administrate', path: { topic: 'fresh' } },
  'DELETE /repos/:owner/:repo/topics/:topic': { needs: 'administrate', path: { topic: 'gardening' } },
  'GET /repos/:owner/:repo/stargazers': { needs: 'see' },
  'GET /repos/:owner/:repo/subscribers': { needs: 'see' },
  'GET /repos/:owner/:repo/subscription': { needs: 'account, see' },
  'PUT /repos/:owner/:repo/subscription': { needs: 'account, see' },
  'DELETE /repos/:owner/:repo/subscription': { needs: 'account, see' },
  'GET /repos/:owner/:repo/notifications': { needs: 'account, see' },
  'PUT /repos/:owner/:repo/notifications': { needs: 'account, see' },
  'GET /repos/:owner/:repo/times': { needs: 'account, see' },
  'GET /repos/:owner/:repo/times/:user': { needs: 'account, see', path: { user: '@me' } },
  'GET /repos/:owner/:repo/new_pin_allowed': { needs: 'see' },
  ...hooks('/repos/:owner/:repo/hooks', 'administrate', '@hook', '@delivery'),
  'POST /repos/:owner/:repo/hooks/:id/tests': { needs: 'administrate', path: { id: '@hook' } },

  // Who may do what with them
  'GET /repos/:owner/:repo/collaborators': { needs: 'account, see' },
  'GET /repos/:owner/:repo/collaborators/:collaborator': {
    needs: 'account, see',
    path: { collaborator: 'reader' },
  },
  'PUT /repos/:owner/:repo/collaborators/:collaborator': {
    needs: 'administrate',
    path: { collaborator: 'guest' },
    body: { permission: 'read' },
  },
  'DELETE /repos/:owner/:repo/collaborators/:collaborator': {
    needs: 'administrate',
    path: { collaborator: 'banned' },
  },
  'GET /repos/:owner/:repo/collaborators/:collaborator/permission': {
    needs: 'account, see',
    path: { collaborator: '@me' },
  },
  'GET /repos/:owner/:repo/assignees': { needs: 'see' },
  'GET /repos/:owner/:repo/assignees/:assignee': { needs: 'see', path: { assignee: 'writer' } },
  'GET /repos/:owner/:repo/reviewers': { needs: 'account, see' },
  'GET /repos/:owner/:repo/teams': { needs: 'account, see' },
  'GET /repos/:owner/:repo/teams/:team': { needs: 'join in the team, see', path: { team: 'triage' } },
  'PUT /repos/:owner/:repo/teams/:team': { needs: 'own with teams', path: { team: 'spare' } },
  'DELETE /repos/:owner/:repo/teams/:team': { needs: 'own with teams', path: { team: 'triage' } },
  'GET /repos/:owner/:repo/branch_protections': { needs: 'administrate code' },
  'POST /repos/:owner/:repo/branch_protections': { needs: 'administrate code', body: { rule_name: 'fresh' } },
  'POST /repos/:owner/:repo/branch_protections/priority': {
    needs: 'administrate code',
    body: { ids: ['@laterProtection', '@protection'] },
  },
  'GET /repos/:owner/:repo/branch_protections/*': { needs: 'administrate code', path: { '*': 'release/*' } },
  'PATCH /repos/:owner/:repo/branch_protections/*': {
    needs: 'administrate code',
    path: { '*': 'release/*' },
    body: { enable_push: true },
  },
  'DELETE /repos/:owner/:repo/branch_protections/*': {
    needs: 'administrate code',
    path: { '*': 'release/*' },
  },
  'GET /repos/:owner/:repo/tag_protections': { needs: 'administrate code' },
  'POST /repos/:owner/:repo/tag_protections': {
    needs: 'administrate code',
    body: { name_pattern: 'fresh-*', whitelist_usernames: ['writer'] },
  },
  'GET /repos/:owner/:repo/tag_protections/:id': {
    needs: 'administrate code',
    path: { id: '@tagProtection' },
  },
  'PATCH /repos/:owner/:repo/tag_protections/:id': {
    needs: 'administrate code',
    path: { id: '@tagProtection' },
    body: { name_pattern: 'fresh-*' },
  },
  'DELETE /repos/:owner/:repo/tag_protections/:id': {
    needs: 'administrate code',
    path: { id: '@tagProtection' },
  },

  // Reading git
  'GET /repos/:owner/:repo/branches': { needs: 'see code' },
  'GET /repos/:owner/:repo/branches/*': { needs: 'see code', path: { '*': 'main' } },
  'GET /repos/:owner/:repo/tags': { needs: 'see code' },
  'GET /repos/:owner/:repo/tags/*': { needs: 'see code', path: { '*': 'v1' } },
  'GET /repos/:owner/:repo/contents': { needs: 'see code' },
  'GET /repos/:owner/:repo/contents/*': { needs: 'see code', path: { '*': 'README.md' } },
  'GET /repos/:owner/:repo/contents-ext': { needs: 'see code' },
  'GET /repos/:owner/:repo/contents-ext/*': { needs: 'see code', path: { '*': 'README.md' } },
  'POST /repos/:owner/:repo/file-contents': { needs: 'see code', body: { files: ['README.md'] } },
  'GET /repos/:owner/:repo/file-contents': {
    needs: 'see code',
    query: '?body={"files":["README.md"]}',
  },
  'GET /repos/:owner/:repo/raw/*': { needs: 'see code', path: { '*': 'README.md' } },
  'GET /repos/:owner/:repo/media/*': { needs: 'see code', path: { '*': 'README.md' } },
  'GET /repos/:owner/:repo/archive/*': { needs: 'see code', path: { '*': 'main.zip' } },
  'GET /repos/:owner/:repo/languages': { needs: 'see code' },
  'GET /repos/:owner/:repo/licenses': { needs: 'see code' },
  'GET /repos/:owner/:repo/commits': { needs: 'see code' },
  'GET /repos/:owner/:repo/commits/:sha/pull': { needs: 'see pulls', path: { sha: '@merged' } },
  'GET /repos/:owner/:repo/compare/*': { needs: 'see code', path: { '*': 'main...topic' } },
  'GET /repos/:owner/:repo/git/commits/:sha': { needs: 'see code' },
  'GET /repos/:owner/:repo/git/commits/:sha.:diffType': { needs: 'see code', path: { diffType: 'diff' } },
  'GET /repos/:owner/:repo/git/trees/:sha': { needs: 'see code', path: { sha: '@tree' } },
  'GET /repos/:owner/:repo/git/blobs/:sha': { needs: 'see code', path: { sha: '@blob' } },
  'GET /repos/:owner/:repo/git/tags/:sha': { needs: 'see code', path: { sha: '@tag' } },
  'GET /repos/:owner/:repo/git/refs': { needs: 'see code' },
  'GET /repos/:owner/:repo/git/refs/*': { needs: 'see code', path: { '*': 'heads/main' } },
  'GET /repos/:owner/:repo/git/notes/:sha': { needs: 'see code' },
  'POST /repos/:owner/:repo/statuses/:sha': {
    needs: 'write code',
    body: { state: 'failure', context: 'fresh' },
  },
  'GET /repos/:owner/:repo/statuses/:sha': { needs: 'see code' },
  'GET /repos/:owner/:repo/commits/:ref/statuses': { needs: 'see code' },
  'GET /repos/:owner/:repo/commits/:ref/status': { needs: 'see code' },

  // Writing git
  'POST /repos/:owner/:repo/contents': {
    needs: 'write code',
    body: { message: 'fresh', files: [{ operation: 'create', path: 'new.txt', content: file.content }] },
    onDisk: true,
  },
  'POST /repos/:owner/:repo/contents/*': {
    needs: 'write code',
    path: { '*': 'new.txt' },
    body: file,
    onDisk: true,
  },
  'PUT /repos/:owner/:repo/contents/*': {
    needs: 'write code',
    path: { '*': 'README.md' },
    body: { ...file, sha: '@readme' },
    onDisk: true,
  },
  'DELETE /repos/:owner/:repo/contents/*': {
    needs: 'write code',
    path: { '*': 'README.md' },
    body: { sha: '@readme', message: 'gone' },
    onDisk: true,
  },
  'POST /repos/:owner/:repo/branches': {
    needs: 'write code',
    body: { new_branch_name: 'fresh' },
    onDisk: true,
  },
  'PUT /repos/:owner/:repo/branches/*': {
    needs: 'write code',
    path: { '*': 'moved' },
    body: { new_commit_id: '@topic', old_commit_id: '@before', force: true },
    onDisk: true,
  },
  'PATCH /repos/:owner/:repo/branches/*': {
    needs: 'write code',
    path: { '*': 'spare' },
    body: { name: 'renamed' },
    onDisk: true,
  },
  'DELETE /repos/:owner/:repo/branches/*': { needs: 'write code', path: { '*': 'spare' }, onDisk: true },
  'POST /repos/:owner/:repo/tags': { needs: 'write code', body: { tag_name: 'fresh' }, onDisk: true },
  'DELETE /repos/:owner/:repo/tags/*': { needs: 'write code', path: { '*': 'v1' }, onDisk: true },

  // Releases; drafts are in releases.test.ts
  'GET /repos/:owner/:repo/releases': { needs: 'see code' },
  'POST /repos/:owner/:repo/releases': { needs: 'write code', body: { tag_name: 'fresh' }, onDisk: true },
  'GET /repos/:owner/:repo/releases/latest': { needs: 'see code' },
  'GET /repos/:owner/:repo/releases/tags/*': { needs: 'see code', path: { '*': 'v0' } },
  'DELETE /repos/:owner/:repo/releases/tags/*': { needs: 'write code', path: { '*': 'v0' } },
  'GET /repos/:owner/:repo/releases/:release': { needs: 'see code', path: { release: '@release' } },
  'PATCH /repos/:owner/:repo/releases/:release': {
    needs: 'write code',
    path: { release: '@release' },
    body: { name: 'fresh' },
  },
  'DELETE /repos/:owner/:repo/releases/:release': { needs: 'write code', path: { release: '@release' } },
  ...files('/repos/:owner/:repo/releases/:release/assets', 'code', {
    release: '@release',
    attachment: '@releaseFile',
  }),

  // Issues
  'GET /repos/issues/search': { needs: 'admittance' },
  'GET /repos/:owner/:repo/issues': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues': { needs: 'account, see issues', body: { title: 'fresh' } },
  'GET /repos/:owner/:repo/issues/pinned': { needs: 'see issues' },
  'GET /repos/:owner/:repo/issues/:index': { needs: 'see issues' },
  'PATCH /repos/:owner/:repo/issues/:index': { needs: 'write issues', body: { title: 'fresh' } },
  'DELETE /repos/:owner/:repo/issues/:index': { needs: 'administrate issues' },
  'POST /repos/:owner/:repo/issues/:index/deadline': {
    needs: 'write issues',
    body: { due_date: '2030-01-31T00:00:00Z' },
  },
  'POST /repos/:owner/:repo/issues/:index/assignees': {
    needs: 'write issues',
    body: { assignees: ['owner'] },
  },
  'DELETE /repos/:owner/:repo/issues/:index/assignees': {
    needs: 'write issues',
    body: { assignees: ['writer'] },
  },
  'GET /repos/:owner/:repo/issues/:index/assignees/:assignee': {
    needs: 'see issues',
    path: { assignee: 'writer' },
  },
  'GET /repos/:owner/:repo/issues/:index/labels': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues/:index/labels': { needs: 'write issues', body: { labels: ['@orgLabel'] } },
  'PUT /repos/:owner/:repo/issues/:index/labels': { needs: 'write issues', body: { labels: ['@orgLabel'] } },
  'DELETE /repos/:owner/:repo/issues/:index/labels': { needs: 'write issues' },
  'DELETE /repos/:owner/:repo/issues/:index/labels/:id': { needs: 'write issues', path: { id: '@label' } },
  'GET /repos/:owner/:repo/issues/:index/dependencies': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues/:index/dependencies': {
    needs: 'write issues',
    path: { index: 3 },
    body: { index: 2 },
  },
  'DELETE /repos/:owner/:repo/issues/:index/dependencies': { needs: 'write issues', body: { index: 2 } },
  'GET /repos/:owner/:repo/issues/:index/blocks': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues/:index/blocks': {
    needs: 'write issues',
    path: { index: 2 },
    body: { index: 3 },
  },
  'DELETE /repos/:owner/:repo/issues/:index/blocks': { needs: 'write issues', body: { index: 3 } },
  'GET /repos/:owner/:repo/labels': { needs: 'see issues' },
  'POST /repos/:owner/:repo/labels': { needs: 'write issues', body: { name: 'fresh', color: '#123456' } },
  'GET /repos/:owner/:repo/labels/:id': { needs: 'see issues', path: { id: '@label' } },
  'PATCH /repos/:owner/:repo/labels/:id': {
    needs: 'write issues',
    path: { id: '@label' },
    body: { name: 'fresh' },
  },
  'DELETE /repos/:owner/:repo/labels/:id': { needs: 'write issues', path: { id: '@label' } },
  'GET /repos/:owner/:repo/milestones': { needs: 'see issues' },
  'POST /repos/:owner/:repo/milestones': { needs: 'write issues', body: { title: 'fresh' } },
  'GET /repos/:owner/:repo/milestones/:id': { needs: 'see issues', path: { id: '@milestone' } },
  'PATCH /repos/:owner/:repo/milestones/:id': {
    needs: 'write issues',
    path: { id: '@milestone' },
    body: { title: 'fresh' },
  },
  'DELETE /repos/:owner/:repo/milestones/:id': { needs: 'write issues', path: { id: '@milestone' } },

  // Around issues
  'GET /repos/:owner/:repo/issues/comments': { needs: 'see issues' },
  'GET /repos/:owner/:repo/issues/comments/:id': { needs: 'see issues', path: { id: '@comment' } },
  'PATCH /repos/:owner/:repo/issues/comments/:id': {
    needs: 'write issues',
    path: { id: '@comment' },
    body: { body: 'fresh' },
  },
  'DELETE /repos/:owner/:repo/issues/comments/:id': { needs: 'write issues', path: { id: '@comment' } },
  'GET /repos/:owner/:repo/issues/:index/comments': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues/:index/comments': {
    needs: 'account, see issues',
    body: { body: 'fresh' },
  },
  'PATCH /repos/:owner/:repo/issues/:index/comments/:id': {
    needs: 'write issues',
    path: { id: '@comment' },
    body: { body: 'fresh' },
  },
  'DELETE /repos/:owner/:repo/issues/:index/comments/:id': {
    needs: 'write issues',
    path: { id: '@comment' },
  },
  'GET /repos/:owner/:repo/issues/:index/timeline': { needs: 'see issues' },
  'GET /repos/:owner/:repo/issues/:index/reactions': { needs: 'see issues' },
  'POST /repos/:owner/:repo/issues/:index/reactions': {
    needs: 'account, see issues',
    body: { content: 'heart' },
  },
  'DELETE /repos/:owner/:repo/issues/:index/reactions': {
    needs: 'account, see issues',
    body: { content: '+1' },
  },
  'GET /repos/:owner/:repo/issues/comments/:id/reactions': { needs: 'see issues', path: { id: '@comment' } },
  'POST /repos/:owner/:repo/issues/comments/:id/reactions': {
    needs: 'account, see issues',
    path: { id: '@comment' },
    body: { content: 'heart' },
  },
  'DELETE /repos/:owner/:repo/issues/comments/:id/reactions': {
    needs: 'account, see issues',
    path: { id: '@comment' },
    body: { content: '+1' },
  },
  ...files('/repos/:owner/:repo/issues/:index/assets', 'issues', { attachment: '@file' }),
  ...files('/repos/:owner/:repo/issues/comments/:id/assets', 'issues', {
    id: '@comment',
    attachment: '@commentFile',
  }),
  'GET /repos/:owner/:repo/issue_templates': { needs: 'see code' },
  'GET /repos/:owner/:repo/issue_config': { needs: 'see code' },
  'GET /repos/:owner/:repo/issue_config/validate': { needs: 'see code' },
  'PUT /repos/:owner/:repo/issues/:index/lock': { needs: 'write issues', body: { lock_reason: 'spam' } },
  'DELETE /repos/:owner/:repo/issues/:index/lock': { needs: 'write issues' },
  'POST /repos/:owner/:repo/issues/:index/pin': { needs: 'write issues', path: { index: 2 } },
  'DELETE /repos/:owner/:repo/issues/:index/pin': { needs: 'write issues' },
  'PATCH /repos/:owner/:repo/issues/:index/pin/:position': { needs: 'write issues', path: { position: 1 } },
  'GET /repos/:owner/:repo/issues/:index/subscriptions': { needs: 'see issues' },
  'GET /repos/:owner/:repo/issues/:index/subscriptions/check': { needs: 'account, see issues' },
  'PUT /repos/:owner/:repo/issues/:index/subscriptions/:user': {
    needs: 'account, see issues',
    path: { user: '@me' },
  },
  'DELETE /repos/:owner/:repo/issues/:index/subscriptions/:user': {
    needs: 'account, see issues',
    path: { user: '@me' },
  },
  'GET /repos/:owner/:repo/issues/:index/times': { needs: 'account, see issues' },
  'POST /repos/:owner/:repo/issues/:index/times': { needs: 'account, see issues', body: { time: 60 } },
  'DELETE /repos/:owner/:repo/issues/:index/times': { needs: 'account, see issues' },
  'DELETE /repos/:owner/:repo/issues/:index/times/:id': {
    needs: 'the time of the owner',
    path: { id: '@time' },
  },
  'POST /repos/:owner/:repo/issues/:index/stopwatch/start': { needs: 'account, see issues' },
  'POST /repos/:owner/:repo/issues/:index/stopwatch/stop': {
    needs: 'account, see issues',
    path: { index: 2 },
  },
  'DELETE /repos/:owner/:repo/issues/:index/stopwatch/delete': {
    needs: 'account, see issues',
    path: { index: 2 },
  },

  // Pull requests
  'GET /repos/:owner/:repo/merge_queue/*': { needs: 'see pulls', path: { '*': 'main' } },
  'GET /repos/:owner/:repo/pulls': { needs: 'see pulls' },
  'POST /repos/:owner/:repo/pulls': {
    needs: 'account, see pulls',
    body: { head: 'spare', base: 'main', title: 'fresh' },
    onDisk: true,
  },
  'GET /repos/:owner/:repo/pulls/pinned': { needs: 'see pulls' },
  'GET /repos/:owner/:repo/pulls/:index': { needs: 'see pulls', path: { index: 4 } },
  'PATCH /repos/:owner/:repo/pulls/:index': {
    needs: 'write pulls',
    path: { index: 4 },
    body: { title: 'fresh' },
  },
  'GET /repos/:owner/:repo/pulls/:index.:diffType': {
    needs: 'see pulls',
    path: { index: 4, diffType: 'diff' },
  },
  'GET /repos/:owner/:repo/pulls/:index/commits': { needs: 'see pulls', path: { index: 4 } },
  'GET /repos/:owner/:repo/pulls/:index/files': { needs: 'see pulls', path: { index: 4 } },
  'GET /repos/:owner/:repo/pulls/:base/*': { needs: 'see pulls', path: { base: 'main', '*': 'topic' } },
  'POST /repos/:owner/:repo/pulls/:index/update': {
    needs: 'update the head',
    path: { index: 4 },
    onDisk: true,
  },
  'GET /repos/:owner/:repo/pulls/:index/merge': { needs: 'see pulls', path: { index: 5 } },
  'GET /repos/:owner/:repo/pulls/:index/reviews': { needs: 'see pulls', path: { index: 4 } },
  'POST /repos/:owner/:repo/pulls/:index/reviews': {
    needs: 'account, see pulls',
    path: { index: 4 },
    body: { event: 'COMMENT', body: 'words' },
  },
  'GET /repos/:owner/:repo/pulls/:index/reviews/:id': {
    needs: 'see pulls',
    path: { index: 4, id: '@review' },
  },
  'POST /repos/:owner/:repo/pulls/:index/reviews/:id': {
    needs: 'the pending review of the owner',
    path: { index: 4, id: '@pendingReview' },
    body: { event: 'COMMENT' },
  },
  'DELETE /repos/:owner/:repo/pulls/:index/reviews/:id': {
    needs: 'the review of the owner',
    path: { index: 4, id: '@review' },
  },
  'GET /repos/:owner/:repo/pulls/:index/reviews/:id/comments': {
    needs: 'see pulls',
    path: { index: 4, id: '@review' },
  },
  'POST /repos/:owner/:repo/pulls/:index/comments/:id/replies': {
    needs: 'account, see pulls',
    path: { index: 4, id: '@lineComment' },
    body: { body: 'words' },
  },
  'POST /repos/:owner/:repo/pulls/comments/:id/resolve': {
    needs: 'write pulls',
    path: { id: '@lineComment' },
  },
  'POST /repos/:owner/:repo/pulls/comments/:id/unresolve': {
    needs: 'write pulls',
    path: { id: '@lineComment' },
  },
  'POST /repos/:owner/:repo/pulls/:index/reviews/:id/dismissals': {
    needs: 'administrate pulls',
    path: { index: 4, id: '@approval' },
    body: { message: 'words' },
  },
  'POST /repos/:owner/:repo/pulls/:index/reviews/:id/undismissals': {
    needs: 'administrate pulls',
    path: { index: 4, id: '@approval' },
  },
  'POST /repos/:owner/:repo/pulls/:index/requested_reviewers': {
    needs: 'write pulls',
    path: { index: 4 },
    body: { reviewers: ['writer'] },
  },
  'DELETE /repos/:owner/:repo/pulls/:index/requested_reviewers': {
    needs: 'write pulls',
    path: { index: 4 },
    body: { reviewers: ['writer'] },
  },
  'DELETE /repos/:owner/:repo/pulls/:index/merge': { needs: 'write code', path: { index: 4 } },
  'POST /repos/:owner/:repo/pulls/:index/merge': {
    needs: 'merge',
    path: { index: 4 },
    body: { Do: 'merge' },
    onDisk: true,
  },
};
