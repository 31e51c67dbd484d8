import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';

const run = promisify(execFile);
const FILES_PER_FOLDER = 100;
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', LC_ALL: 'C' };

/** A forge that can be asked, and in whose name. */
export interface Asked {
  address: string;
  token: string;
  /** A folder for work trees. */
  folder: string;
}

/** A repository with a commit of many files on `main`, and branches `b0`, `b1`, … that change one file each. */
export async function pushRepository(
  { address, token, folder }: Asked,
  name: string,
  size: { files: number; branches: number },
): Promise<number> {
  const made = await ask<{ id: number; clone_url: string }>({ address, token }, '/user/repos', { name });
  const bare = join(folder, `${name}.git`);
  const git = (...args: string[]) => run('git', args, { env: ENVIRONMENT });
  await git('init', '-q', '--bare', '-b', 'main', bare);
  const load = spawn('git', ['--git-dir', bare, 'fast-import', '--quiet'], {
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  load.stdin.end(historyOf(size));
  const [code] = (await once(load, 'exit')) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  const remote = made.clone_url.replace('://', `://bench:${token}@`);
  await git('--git-dir', bare, 'push', '-q', remote, 'main');
  await git('--git-dir', bare, 'push', '-q', remote, 'refs/heads/*:refs/heads/*');
  return made.id;
}

/** Makes a pull request of a branch. */
export async function openPull(at: Asked, repository: string, branch: string): Promise<number> {
  const body = { head: branch, base: 'main', title: `Change ${branch}` };
  return (await ask<{ number: number }>(at, `/repos/${repository}/pulls`, body)).number;
}

/** Adds a commit to `main`, by the API. */
export async function moveBase(at: Asked, repository: string, file: string): Promise<void> {
  await ask(at, `/repos/${repository}/contents/${file}`, {
    content: 'dGV4dAo=',
    message: file,
    branch: 'main',
  });
}

async function ask<T>(
  { address, token }: Pick<Asked, 'address' | 'token'>,
  path: string,
  body: object,
): Promise<T> {
  const answer = await fetch(`${address}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Fills a repository with pull requests between its branches and `main`, a third of them closed. */
export async function fillPulls(
  databaseUrl: string,
  repositoryId: number,
  count: number,
  branches: number,
): Promise<void> {
  const database = openDatabase({
    url: databaseUrl,
    schema: 'forge',
    log: silentLog,
    poolSize: 1,
    statementTimeoutMs: 600_000,
  });
  try {
    await database.transaction(async (tx) => {
      await tx.run`
        insert into :schema.issues (repository_id, number, is_pull, poster_id, title, body, closed_at, comments,
          created_at, updated_at)
        select r.id, r.last_number + n, true, r.owner_id, 'Change ' || n, repeat('Words of a text. ', 20),
          case when n % 3 = 0 then ${tx.now}::timestamptz end, n % 17,
          ${tx.now}::timestamptz - n * interval '1 minute', ${tx.now}::timestamptz - n * 7919 % 10007 * interval '1 minute'
        from :schema.repositories r, generate_series(1, ${count}::int) n where r.id = ${repositoryId}`;
      await tx.run`
        insert into :schema.pulls (issue_id, repository_id, base_branch, head_repository_id, head_branch, head_sha,
          written_sha)
        select i.id, p.repository_id, 'main', p.repository_id, p.head_branch, p.head_sha, p.head_sha
        from :schema.issues i join (
            select q.*, row_number() over (order by q.id) - 1 as place from :schema.pulls q
            where q.repository_id = ${repositoryId}) p on p.place = i.number % ${branches}::int
        where i.repository_id = ${repositoryId} and i.id not in (select issue_id from :schema.pulls)`;
      await tx.run`
        update :schema.repositories set last_number = last_number + ${count}::int, pulls = pulls + ${count}::int,
          closed_pulls = closed_pulls + ${count}::int / 3
        where id = ${repositoryId}`;
    });
    await database.autocommit().script('vacuum analyze');
  } finally {
    await database.close();
  }
}

function historyOf({ files, branches }: { files: number; branches: number }): string {
  const path = (index: number) => `folder-${Math.floor(index / FILES_PER_FOLDER)}/file-${index}.txt`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const head = (ref: string) =>
    `commit refs/heads/${ref}\ncommitter Bench <bench@example.test> 1700000000 +0000\n${data(ref)}`;
  const script = [head('main')];
  for (let index = 0; index < files; index++)
    script.push(`M 100644 inline ${path(index)}\n${data(`file ${index}\n`)}`);
  for (let index = 0; index < branches; index++) {
    const changed = path(Math.floor((index * files) / branches));
    script.push(
      `${head(`b${index}`)}from refs/heads/main\nM 100644 inline ${changed}\n${data(`by ${index}\n`)}`,
    );
  }
  return script.join('');
}
