import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import type { Person, Scene } from './forge.ts';
import { type Persona, PLACES, type PlaceName } from './permission-model.ts';

// One scene for the whole matrix: three places with the same things in them, everybody who asks, and a picture of all
// tables, to see that nothing changed and to put back what did.

/** Names and ids of what is in a place, by the words of the table. */
export type Things = Readonly<Record<string, string | number>>;

/** The scene, ready to be asked. */
export interface Matrix {
  readonly things: Readonly<Record<PlaceName, Things>>;
  /** Asks in somebody's name; `area` is what a narrow token lacks, `path` one from the server's root. */
  ask(who: Persona, area: string, method: string, path: string, body?: unknown): Promise<Asked>;
  /** Tables that are not what they were. */
  changedTables(): Promise<string[]>;
  /** Puts all tables back, and the repositories on the disk when they were touched. */
  restore(onDisk: boolean): Promise<void>;
}

/** An answer, as far as the matrix looks at it. */
interface Asked {
  status: number;
  text: string;
}

const AREAS = ['misc', 'user', 'repository', 'issue', 'organization', 'notification', 'admin'];
const FILE = Buffer.from('text\n').toString('base64');

/** Builds the scene; afterwards every change is somebody's who asked. */
export async function buildMatrix(scene: Scene): Promise<Matrix> {
  const people = await accounts(scene);
  const common = await personalThings(scene, people);
  await made(people.guest, 'POST', '/user/repos', { name: 'seed', auto_init: true, license: 'mit' });
  const things: Partial<Record<PlaceName, Things>> = {};
  for (const place of PLACES) things[place] = { ...common, ...(await buildPlace(scene, people, place)) };
  await scene.sql.run`update :schema.users set refused_at = now() where login = 'banned'`;
  const tokens = await scopedTokens(people.owner);
  await takePicture(scene);
  const repositories = join(scene.dataFolder, 'repositories');
  const kept = join(scene.folder, 'kept');
  await cp(repositories, kept, { recursive: true });

  const headersOf = (who: Persona, area: string, method: string): Record<string, string> => {
    if (who === 'anonymous') return {};
    const scoped = who === 'leaked' ? 'leaked' : `${method === 'GET' ? 'read' : 'write'}:${area}`;
    const token =
      who === 'leaked' || who === 'narrow' ? tokens.get(scoped) : people[who as keyof typeof people].token;
    return { authorization: `Bearer ${token}` };
  };
  return {
    things: things as Record<PlaceName, Things>,
    async ask(who, area, method, path, body) {
      const answer = await fetch(`${scene.address}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...headersOf(who, area, method),
          ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, text: await answer.text() };
    },
    async changedTables() {
      const rows = await scene.sql.rows<{ name: string }>`select picture.changed() as name`;
      return rows.map(({ name }) => name);
    },
    async restore(onDisk) {
      await scene.sql.run`select picture.restore()`;
      if (!onDisk) return;
      for (const place of PLACES) {
        const bare = await scene.bare(place, 'thing');
        await Promise.all(
          ['refs', 'packed-refs'].map((name) => rm(join(bare, name), { recursive: true, force: true })),
        );
      }
      await cp(kept, repositories, { recursive: true, force: true });
    },
  };
}

type People = Readonly<
  Record<Exclude<Persona, 'leaked' | 'narrow' | 'anonymous'> | 'guest' | 'spare', Person>
>;

async function accounts(scene: Scene): Promise<People> {
  const names = [
    'stranger',
    'reader',
    'triage',
    'writer',
    'keeper',
    'owner',
    'banned',
    'guest',
    'spare',
  ] as const;
  const people = Object.fromEntries(names.map((name) => [name, scene.person(name)]));
  people['root'] = scene.person('root', { role: 'service_role' });
  for (const person of Object.values(people)) await made(person, 'GET', '/user');
  return people as People;
}

async function made(person: Person, method: string, path: string, body?: unknown) {
  const answer = await person.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** A token for everything but one thing, under the name of that thing, and the leaked one. */
async function scopedTokens(owner: Person): Promise<Map<string, string>> {
  const tokens = new Map<string, string>();
  const make = async (name: string, scopes: string[]) => {
    tokens.set(name, (await made(owner, 'POST', '/users/owner/tokens', { name, scopes })).sha1);
  };
  await make('leaked', ['public-only']);
  for (const area of AREAS) {
    const others = AREAS.filter((one) => one !== area).map((one) => `write:${one}`);
    await make(`read:${area}`, others);
    await make(`write:${area}`, [...others, `read:${area}`]);
  }
  return tokens;
}

const hook = { type: 'gitea', config: { url: 'http://127.0.0.1:9/', content_type: 'json' }, active: false };

async function personalThings(scene: Scene, { owner, root }: People): Promise<Things> {
  const userHook = (await made(owner, 'POST', '/user/hooks', hook)).id;
  const systemHook = (await made(root, 'POST', '/admin/hooks', hook)).id;
  await scene.sql.run`
    insert into :schema.follows (follower_id, followed_id, created_at)
    select u.id, g.id, now() from :schema.users u, :schema.users g where g.login = 'guest' and u.id <> g.id`;
  const wish = { name: 'spare', redirect_uris: ['https://ci.example/done'] };
  const oauthApplication = (await made(owner, 'POST', '/user/applications/oauth2', wish)).id;
  const grant = await scene.sql.row<{ id: number }>`
    insert into :schema.oauth_grants (application_id, user_id, created_at, updated_at)
    select ${oauthApplication}, id, now(), now() from :schema.users where login = 'owner' returning id`;
  const token = (await made(owner, 'POST', '/users/owner/tokens', { name: 'spare', scopes: ['all'] })).id;
  return {
    userHook,
    systemHook,
    token,
    oauthApplication,
    oauthGrant: grant?.id ?? 0,
    userDelivery: await delivery(scene, userHook),
    systemDelivery: await delivery(scene, systemHook),
  };
}

async function delivery(scene: Scene, hookId: number): Promise<number> {
  const row = await scene.sql.row<{ id: number }>`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, created_at)
    values (${hookId}, gen_random_uuid(), 'push', 'push', '{}', now()) returning id`;
  return row?.id ?? 0;
}

/** Organization, teams, repository, and in it one of everything; all of it is called the same in each place. */
async function buildPlace(scene: Scene, people: People, place: PlaceName): Promise<Things> {
  const { owner, writer } = people;
  const visibility = place === 'hidden' ? 'private' : 'public';
  const isPrivate = place === 'secret';
  for (const username of [place, `${place}-empty`])
    await made(owner, 'POST', '/orgs', { username, visibility });
  const teamOf = (org: string, name: string) =>
    made(owner, 'POST', `/orgs/${org}/teams`, { name, units_map: { 'repo.issues': 'write' } });
  const team = (await teamOf(place, 'triage')).id;
  const emptyTeam = (await teamOf(`${place}-empty`, 'triage')).id;
  await teamOf(place, 'spare');
  const members = [
    [team, 'triage'],
    [team, 'guest'],
    [emptyTeam, 'triage'],
  ] as const;
  for (const [id, name] of members) await made(owner, 'PUT', `/teams/${id}/members/${name}`);
  await made(owner, 'PUT', `/orgs/${place}/public_members/owner`);

  // A fork of what everybody may read, so that rights in the fork decide.
  const fork = { organization: place, name: 'thing' };
  const repository = await made(owner, 'POST', '/repos/guest/seed/forks', fork);
  await made(owner, 'PATCH', `/repos/${place}/thing`, { private: isPrivate, template: true });
  await made(owner, 'POST', `/orgs/${place}/repos`, { name: 'gift', private: isPrivate, auto_init: true });
  const at = `/repos/${place}/thing`;
  for (const name of ['thing', 'gift']) await made(owner, 'PUT', `/teams/${team}/repos/${place}/${name}`);
  for (const [name, permission] of [
    ['keeper', 'admin'],
    ['banned', 'admin'],
    ['writer', 'write'],
    ['reader', 'read'],
  ]) {
    await made(owner, 'PUT', `${at}/collaborators/${name}`, { permission });
  }
  await scene.sql.run`
    insert into :schema.repository_transfers (repository_id, doer_id, recipient_id, team_ids, created_at)
    select r.id, (select id from :schema.users where login = 'owner'), (select id from :schema.users where login = 'stranger'),
      '{}', now()
    from :schema.repositories r join :schema.users u on u.id = r.owner_id where u.login = ${place} and r.name = 'gift'`;

  const code = await buildCode(scene, owner, place);
  const release = (await made(owner, 'POST', `${at}/releases`, { tag_name: 'v0' })).id;
  const releaseFile = await attach(scene, owner, `${at}/releases/${release}/assets`);
  const label = (await made(owner, 'POST', `${at}/labels`, { name: 'bug', color: '#ff0000' })).id;
  const orgLabel = (await made(owner, 'POST', `/orgs/${place}/labels`, { name: 'all', color: '#00ff00' })).id;
  const milestone = (await made(owner, 'POST', `${at}/milestones`, { title: 'one' })).id;
  const issues = await buildIssues(scene, owner, place, { labels: [label], milestone });
  await made(owner, 'POST', `${at}/pulls`, { title: 'topic', head: 'topic', base: 'main' });
  const reviews = `${at}/pulls/4/reviews`;
  const onLine = [{ path: 'topic.txt', new_position: 1, body: 'words' }];
  const { id: review } = await made(owner, 'POST', reviews, {
    event: 'COMMENT',
    body: 'words',
    comments: onLine,
  });
  const { items: lines } = await owner.call('GET', `${reviews}/${review}/comments`);
  const { id: pendingReview } = await made(owner, 'POST', reviews, { body: 'words' });
  const { id: approval } = await made(writer, 'POST', reviews, { event: 'APPROVED' });
  // Waits for a check that never ends.
  await made(owner, 'POST', `${at}/statuses/topic`, { state: 'pending', context: 'never' });
  await made(owner, 'POST', `${at}/pulls/4/merge`, { merge_when_checks_succeed: true });
  await made(owner, 'POST', `${at}/pulls`, { title: 'done', head: 'done', base: 'main' });
  await made(owner, 'POST', `${at}/pulls/5/merge`, { Do: 'merge' });
  const { merge_commit_sha: merged } = await made(owner, 'GET', `${at}/pulls/5`);

  const repositoryHook = (await made(owner, 'POST', `${at}/hooks`, hook)).id;
  const orgHook = (await made(owner, 'POST', `/orgs/${place}/hooks`, hook)).id;
  await scene.sql.run`
    insert into :schema.stars (repository_id, user_id, created_at)
    select ${repository.id}, id, now() from :schema.users where kind = 'person'`;
  await scene.sql.run`
    insert into :schema.watches (repository_id, user_id, created_at)
    select ${repository.id}, id, now() from :schema.users where kind = 'person' on conflict do nothing`;
  await made(owner, 'PUT', `${at}/topics`, { topics: ['gardening'] });
  return {
    ...code,
    ...issues,
    release,
    releaseFile: releaseFile.id,
    releaseUuid: releaseFile.uuid,
    merged,
    review,
    pendingReview,
    approval,
    lineComment: lines[0]?.id ?? 0,
    org: place,
    emptyOrg: `${place}-empty`,
    repository: repository.id,
    team,
    label,
    orgLabel,
    milestone,
    hook: repositoryHook,
    orgHook,
    delivery: await delivery(scene, repositoryHook),
    orgDelivery: await delivery(scene, orgHook),
    colleague: writer.name,
  };
}

/** Branches `topic`, `done`, `spare` and `moved`, tags, a note, protections and a status. */
async function buildCode(scene: Scene, owner: Person, place: PlaceName): Promise<Things> {
  const at = `/repos/${place}/thing`;
  for (const branch of ['topic', 'done', 'spare', 'moved']) {
    await made(owner, 'POST', `${at}/contents/${branch}.txt`, {
      content: FILE,
      message: branch,
      new_branch: branch,
    });
  }
  const bare = await scene.bare(place, 'thing');
  const head = await git(bare, 'rev-parse', 'main');
  await git(bare, 'tag', '-a', '-m', 'first', 'v1', head);
  await git(bare, 'notes', 'add', '-m', 'a note', head);
  const protect = (rule: string) => made(owner, 'POST', `${at}/branch_protections`, { rule_name: rule });
  const protection = (await protect('release/*')).id;
  const laterProtection = (await protect('stable/*')).id;
  const ofTags = { name_pattern: 'kept-*', whitelist_usernames: ['writer'] };
  const tagProtection = (await made(owner, 'POST', `${at}/tag_protections`, ofTags)).id;
  await made(owner, 'POST', `${at}/statuses/${head}`, { state: 'success', context: 'ci' });
  const readme = (await owner.call('GET', `${at}/contents/README.md`)).body['sha'] as string;
  return {
    head,
    protection,
    laterProtection,
    tagProtection,
    topic: await git(bare, 'rev-parse', 'topic'),
    before: await git(bare, 'rev-parse', 'moved'),
    tag: await git(bare, 'rev-parse', 'v1'),
    tree: await git(bare, 'rev-parse', 'main^{tree}'),
    blob: await git(bare, 'rev-parse', 'main:README.md'),
    readme,
  };
}

/** Issues 1 to 3, and around the first what there can be; everybody spent time on it and has a stopwatch on the second. */
async function buildIssues(scene: Scene, owner: Person, place: PlaceName, first: object): Promise<Things> {
  const at = `/repos/${place}/thing/issues`;
  const { id: issue } = await made(owner, 'POST', at, { title: 'one', assignees: ['writer'], ...first });
  const { id: second } = await made(owner, 'POST', at, { title: 'two' });
  await made(owner, 'POST', at, { title: 'three' });
  const { id: comment } = await made(owner, 'POST', `${at}/1/comments`, { body: 'words' });
  for (const path of [`${at}/1/reactions`, `${at}/comments/${comment}/reactions`]) {
    await made(owner, 'POST', path, { content: '+1' });
  }
  const file = await attach(scene, owner, `${at}/1/assets`);
  const commentFile = await attach(scene, owner, `${at}/comments/${comment}/assets`);
  await made(owner, 'POST', `${at}/1/dependencies`, { index: 2 });
  await made(owner, 'POST', `${at}/1/blocks`, { index: 3 });
  await made(owner, 'POST', `${at}/1/pin`);
  await scene.sql.run`
    update :schema.repositories r set only_contributors_track_time = false from :schema.issues i
    where i.id = ${issue} and r.id = i.repository_id`;
  await scene.sql.run`
    insert into :schema.tracked_times (issue_id, user_id, seconds, created_at)
    select ${issue}, id, 60, now() from :schema.users where kind = 'person'`;
  await scene.sql.run`
    insert into :schema.stopwatches (user_id, issue_id, started_at)
    select id, ${second}, now() from :schema.users where kind = 'person'`;
  const time = await scene.sql.row<{ id: number }>`
    select t.id from :schema.tracked_times t join :schema.users u on u.id = t.user_id
    where t.issue_id = ${issue} and u.login = 'owner'`;
  const thread = await scene.sql.row<{ id: number }>`
    insert into :schema.notifications (user_id, repository_id, issue_id, status, updated_at)
    select u.id, i.repository_id, i.id, 'unread', now() from :schema.users u, :schema.issues i
    where u.login = 'owner' and i.id = ${issue}
    on conflict on constraint notifications_subject_key do update set status = 'unread' returning id`;
  return {
    issue,
    comment,
    file: file.id,
    uuid: file.uuid,
    commentFile: commentFile.id,
    time: time?.id ?? 0,
    thread: thread?.id ?? 0,
  };
}

async function attach(scene: Scene, owner: Person, path: string): Promise<{ id: number; uuid: string }> {
  const body = new FormData();
  body.set('attachment', new Blob(['text']), 'file.txt');
  const headers = { authorization: `Bearer ${owner.token}` };
  const answer = await fetch(`${scene.address}/api/v1${path}`, { method: 'POST', headers, body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { id: number; uuid: string };
}

/**
 * Copies all tables, and makes two functions: which tables differ from their copy, and what puts them back. From here on
 * nothing is delivered: an effect stays a row, where the comparison sees it.
 */
async function takePicture(scene: Scene): Promise<void> {
  for (;;) {
    const left = await scene.sql.rows`select from :schema.outbox where parked_at is null`;
    if (left.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await scene.sql.script(`
    create function forge.stay() returns trigger language plpgsql as $$
    begin new.run_at := 'infinity'; return new; end $$;
    create trigger stay before insert on forge.outbox for each row execute function forge.stay();
    create schema picture;
    do $$
    declare one text;
    begin
      for one in select relname from pg_class where relnamespace = 'forge'::regnamespace and relkind = 'r' loop
        execute format('create table picture.%I as table forge.%I', one, one);
      end loop;
    end $$;
    -- When a token was last used is a trace that a refusal may leave, and maintenance comes when it likes.
    create function picture.sum_of(home text, one text) returns text language plpgsql as $$
    declare result text;
    begin
      execute format('select md5(string_agg(line, chr(10) order by line)) from (
        select (to_jsonb(t) - ''{last_used_at,checked_at,maintained_at,maintenance_failures,size_bytes,language,licenses}''::text[])::text as line from %I.%I t) lines', home, one)
        into result;
      return coalesce(result, '');
    end $$;
    create table picture.sums as
      select relname::text as name, picture.sum_of('picture', relname) as sum
      from pg_class where relnamespace = 'picture'::regnamespace and relkind = 'r' and relname <> 'sums';
    create function picture.changed() returns setof text language sql as $$
      select name from picture.sums where sum <> picture.sum_of('forge', name) order by name
    $$;
    create function picture.restore() returns void language plpgsql as $$
    declare one text; columns text;
    begin
      perform set_config('session_replication_role', 'replica', true);
      for one in select picture.changed() loop
        select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
          where attrelid = format('forge.%I', one)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
        execute format('delete from forge.%I', one);
        execute format('insert into forge.%I (%s) overriding system value select %s from picture.%I',
          one, columns, columns, one);
      end loop;
    end $$;`);
}
