/**
 * A program that fetches everything a commit leads to, over HTTP or from git itself, drops it, and tells how many
 * milliseconds that took: `git-client.ts http|direct <address or folder> <commit> [token]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Readable } from 'node:stream';

const [, , kind = '', where = '', tip = '', token] = process.argv;
const start = performance.now();
await fetchAll(kind, where, tip, token);
process.send?.(performance.now() - start, () => process.exit(0));

/** Asks for a commit with all its history, without a word of progress. */
async function fetchAll(from: string, place: string, commit: string, key = ''): Promise<void> {
  const want = `want ${commit} side-band-64k ofs-delta no-progress\n`;
  const question = `${(want.length + 4).toString(16).padStart(4, '0')}${want}00000009done\n`;
  const answer = from === 'http' ? await overHttp(place, key, question) : directly(place, question);
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  if (bytes < 1024 * 1024) throw new Error(`only ${bytes} bytes came`);
}

function directly(bare: string, question: string): Readable {
  const program = spawn('git', ['upload-pack', '--stateless-rpc', bare], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  program.stdin.end(question);
  return program.stdout;
}

async function overHttp(url: string, key: string, question: string): Promise<Readable> {
  const call = request(`${url}/git-upload-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-git-upload-pack-request' },
  });
  call.end(question);
  const [answer] = (await once(call, 'response')) as [Readable & { statusCode: number }];
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  return answer;
}
