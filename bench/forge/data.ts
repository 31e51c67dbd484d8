import { silentLog } from '@croft/runtime';
import { type Database, openDatabase } from '@croft/sql';

/** What the figures of the forge are measured on. */
export const SIZE = { repositories: 1_000, issues: 200_000, comments: 1_000_000, people: 200, words: 20_000 };

/** Id of the person who asks: owns little, was given some private repositories, and reads what is public. */
export const READER = 1;

/**
 * The word of a rank in the texts: the first ones are in nearly every issue, the last ones in a few. Made of syllables,
 * so that parts of words are in many of them, as in a language.
 */
export function word(rank: number): string {
  const syllables = [
    'ka',
    'to',
    'ne',
    'mi',
    'ros',
    'lu',
    'ven',
    'dar',
    'sh',
    'ing',
    'per',
    'ol',
    'ti',
    'gra',
    'ex',
    'um',
  ];
  let text = '';
  for (let rest = rank + 16; rest > 0; rest = Math.floor(rest / 16)) text += syllables[rest % 16];
  return text;
}

/**
 * Fills the schema of a forge that has nobody yet, the same way every time: repositories from a hundred to some
 * thousands of issues, a fifth of them private, words as often as in a language (Zipf), and one word of its own for
 * each issue (`ref` and its number in this set).
 */
export async function fillForge(url: string, schema: string): Promise<void> {
  const database = openDatabase({ url, schema, log: silentLog, poolSize: 1, statementTimeoutMs: 1_800_000 });
  try {
    const tx = database.autocommit();
    for (const table of ['issues', 'comments', 'issue_labels'])
      await tx.script(`alter table "${schema}".${table} disable trigger user`);
    // Built afterwards, as an import would: row by row they take minutes.
    const trigrams = await tx.rows<{ name: string; definition: string }>`
      select indexname as name, indexdef as definition from pg_indexes
      where schemaname = ${schema} and tablename in ('issue_texts', 'comments') and indexname like '%_trgm'`;
    for (const { name } of trigrams) await tx.script(`drop index "${schema}".${name}`);
    await fill(database);
    await tx.run`select :schema.rebuild_issue_search()`;
    for (const { definition } of trigrams) await tx.script(definition);
    for (const table of ['issues', 'comments', 'issue_labels'])
      await tx.script(`alter table "${schema}".${table} enable trigger user`);
    // What autovacuum does within the minute.
    await tx.script('vacuum analyze');
  } finally {
    await database.close();
  }
}

async function fill(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    // A number of [0, 1) that depends on two others only.
    await tx.script(`
      create function pg_temp.chance(n bigint, what int) returns float8 language sql immutable
        as 'select (hashint8extended(n, what) & 1073741823) / 1073741824.0'`);
    await tx.run`
      insert into :schema.users (auth_user_id, login, full_name, email, created_at)
      select gen_random_uuid(), 'person-' || n, 'Person ' || n, 'person-' || n || '@example.test', ${tx.now}
      from generate_series(1, ${SIZE.people}::int) n`;
    await tx.run`
      insert into :schema.repositories (owner_id, name, private, default_branch, state, created_at, updated_at)
      select 1 + n * 7 % ${SIZE.people}::int, 'repository-' || n, n % 5 = 4, 'main', 'ready', ${tx.now}, ${tx.now}
      from generate_series(1, ${SIZE.repositories}::int) n`;
    await tx.run`
      insert into :schema.collaborators (repository_id, user_id, level)
      select id, ${READER}, 1 from :schema.repositories where private and id % 20 = 4 and owner_id <> ${READER}`;
    await tx.run`
      insert into :schema.labels (repository_id, name, color, created_at, updated_at)
      select r.id, l.name, 'ee0701', ${tx.now}, ${tx.now}
      from :schema.repositories r, unnest(array['bug', 'feature', 'question', 'help wanted', 'priority/high',
        'priority/low', 'docs', 'wontfix']) with ordinality as l (name, place) order by r.id, place`;
    await tx.run`
      insert into :schema.milestones (repository_id, title, created_at, updated_at)
      select r.id, 'v' || n, ${tx.now}, ${tx.now} from :schema.repositories r, generate_series(1, 4) n order by r.id, n`;
    await tx.script('create temporary table words (rank int primary key, word text) on commit drop');
    const words = Array.from({ length: SIZE.words }, (_, rank) => word(rank));
    await tx.run`
      insert into words select place - 1, word from unnest(${words}::text[]) with ordinality as w (word, place)`;
    // Five words each; a text is some of them, which costs a fraction of looking up its words one by one.
    await tx.script('create temporary table phrases (id int primary key, phrase text) on commit drop');
    await tx.run`
      insert into phrases
      select p, string_agg(word, ' ' order by n)
      from generate_series(0, 199999) p, generate_series(1, 5) n,
        lateral (select floor(power(${SIZE.words}::float8, pg_temp.chance(p * 5 + n, 1)))::int as rank) r
        join words using (rank)
      group by p`;
    await tx.script('analyze phrases');
    await tx.run`
      insert into :schema.issues (repository_id, number, is_pull, poster_id, title, body, closed_at, deadline_at,
        comments, milestone_id, created_at, updated_at)
      select repository_id, number, n % 10 = 9, 1 + floor(${SIZE.people} * pg_temp.chance(n, 2)),
        a.phrase, b.phrase || E'.\n' || c.phrase || ' ref' || n,
        case when pg_temp.chance(n, 3) < 0.6 then at + interval '1 day' end,
        case when n % 50 = 0 then at + interval '30 days' end, 5,
        case when n % 4 = 0 then repository_id * 4 - n / 4 % 4 end, at, at
      from (select n, repository_id, row_number() over (partition by repository_id order by n) as number,
          ${tx.now}::timestamptz - (${SIZE.issues}::int - n) * interval '10 minutes' as at
        from (select n, 1 + floor(${SIZE.repositories} * power(pg_temp.chance(n, 4), 2))::bigint as repository_id
          from generate_series(1, ${SIZE.issues}::int) n) placed) i
        join phrases a on a.id = floor(200000 * pg_temp.chance(n, 5))
        join phrases b on b.id = floor(200000 * pg_temp.chance(n, 6))
        join phrases c on c.id = floor(200000 * pg_temp.chance(n, 7))
      order by n`;
    await tx.run`
      insert into :schema.pulls (issue_id, repository_id, base_branch, head_repository_id, head_branch, head_sha,
        written_sha)
      select id, repository_id, 'main', repository_id, 'topic-' || number, md5(id::text), md5(id::text)
      from :schema.issues where is_pull`;
    await tx.run`
      insert into :schema.issue_labels (issue_id, label_id)
      select distinct i.id, (i.repository_id - 1) * 8 + 1 + floor(8 * power(pg_temp.chance(i.id, 10 + n), 2))::bigint
      from :schema.issues i, generate_series(1, 3) n where pg_temp.chance(i.id, 20 + n) < 0.5`;
    await tx.run`
      insert into :schema.issue_assignees (issue_id, user_id, position)
      select distinct on (1, 2) i.id, 1 + floor(${SIZE.people} * pg_temp.chance(i.id, 30 + n))::bigint, n
      from :schema.issues i, generate_series(1, 2) n where pg_temp.chance(i.id, 40 + n) < 0.3 order by 1, 2, 3`;
    await tx.run`
      insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
      select 1 + n % ${SIZE.issues}::int, 'comment', 1 + floor(${SIZE.people} * pg_temp.chance(n, 8)),
        a.phrase || ', ' || b.phrase || ' ' || c.phrase, ${tx.now}, ${tx.now}
      from generate_series(1, ${SIZE.comments}::int) n
        join phrases a on a.id = floor(200000 * pg_temp.chance(n, 9))
        join phrases b on b.id = floor(200000 * pg_temp.chance(n, 50))
        join phrases c on c.id = floor(200000 * pg_temp.chance(n, 51))`;
    await tx.run`
      update :schema.repositories r set last_number = c.last, issues = c.issues, closed_issues = c.closed_issues,
        pulls = c.pulls, closed_pulls = c.closed_pulls
      from (select repository_id, max(number) as last, count(*) filter (where not is_pull) as issues,
          count(closed_at) filter (where not is_pull) as closed_issues, count(*) filter (where is_pull) as pulls,
          count(closed_at) filter (where is_pull) as closed_pulls
        from :schema.issues group by 1) c
      where c.repository_id = r.id`;
  });
}
