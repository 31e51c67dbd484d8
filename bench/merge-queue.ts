import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import type { Figure } from './figure.ts';
import { startForgeProcess, tokenOf } from './forge/service.ts';

const PULLS = 200;
const FILES = 500;
const GOAL = 20;
const AT_ONCE = 8;

type Call = (method: string, path: string, body?: object) => Promise<Response>;

/**
 * A merge queue from the moment its checks are no longer required until the last of 200 pull requests is merged: merges
 * one upon the other, on the disk, with rows, timelines and events.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-queue-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog });
  try {
    await using forge = await startForgeProcess({ databaseUrl: postgres.url('croft'), dataFolder: folder });
    const rate = PULLS / (await drain(callerAt(forge.address)));
    yield {
      bench: 'merge-queue',
      figure: `${PULLS} queued pull requests on one branch of ${FILES} files`,
      ratio: rate / GOAL,
      ours: rate,
      theirs: GOAL,
      unit: 'merges/s',
      limit: '≥ 1',
    };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function callerAt(address: string): Call {
  const token = tokenOf({ auth_user_id: randomUUID(), email: 'ada@example.test', full_name: 'Ada' });
  return async (method, path, body) => {
    const answer = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
}

/** Seconds it took. */
async function drain(call: Call): Promise<number> {
  const { login } = (await (await call('GET', '/user')).json()) as { login: string };
  const at = `/repos/${login}/work`;
  await call('POST', '/user/repos', { name: 'work', auto_init: true, default_branch: 'main' });
  const file = (path: string, text: string) => ({
    operation: 'create',
    path,
    content: Buffer.from(text).toString('base64'),
  });
  const files = Array.from({ length: FILES }, (_, index) =>
    file(`folder-${index % 20}/file-${index}`, `${index}\n`),
  );
  await call('POST', `${at}/contents`, { branch: 'main', message: 'files', files });
  // What it waits for never comes, so everything is in the queue before the clock starts.
  const queue = { enable_merge_queue: true, merge_queue_batch: 20 };
  const never = { enable_status_check: true, status_check_contexts: ['never'] };
  await call('POST', `${at}/branch_protections`, { rule_name: 'main', ...queue, ...never });
  await each(async (index) => {
    const branch = `topic-${index}`;
    const change = { message: branch, files: [file(`new/${branch}`, `${index}\n`)] };
    await call('POST', `${at}/contents`, { branch: 'main', new_branch: branch, ...change });
    const made = await call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
    const { number } = (await made.json()) as { number: number };
    await call('POST', `${at}/pulls/${number}/merge`, { Do: 'merge' });
  });
  const start = performance.now();
  await call('PATCH', `${at}/branch_protections/main`, { enable_status_check: false });
  for (;;) {
    const left = await call('GET', `${at}/merge_queue/main?limit=1`);
    await left.arrayBuffer();
    if (left.headers.get('x-total-count') === '0') break;
    await sleep(50);
  }
  const seconds = (performance.now() - start) / 1000;
  const closed = await call('GET', `${at}/pulls?state=open&limit=1`);
  await closed.arrayBuffer();
  if (closed.headers.get('x-total-count') !== '0') throw new Error('not everything was merged');
  return seconds;
}

async function each(work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < PULLS) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
