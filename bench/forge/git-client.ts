/**
 * A program that sends a request of git's protocol, to a server over HTTP or to git's own program, drops the answer, and
 * tells how many milliseconds that took: `git-client.ts http|direct <service> <address or folder> <file of the request>
 * <megabytes or words that must come> [token]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import type { Readable } from 'node:stream';

const [, , from = '', service = '', place = '', file = '', expected = '', token = ''] = process.argv;
// Into the caches of the disk, so that whoever is first has no disadvantage.
for await (const _ of createReadStream(file));
const start = performance.now();
const answer = from === 'http' ? await overHttp() : directly();
let bytes = 0;
let beginning = '';
for await (const chunk of answer as AsyncIterable<Buffer>) {
  bytes += chunk.length;
  if (beginning.length < 1000) beginning += chunk.toString('latin1');
}
const took = performance.now() - start;
const isComplete = /^\d+$/.test(expected) ? bytes >= Number(expected) : beginning.includes(expected);
if (!isComplete) throw new Error(`${expected} did not come, but ${bytes} bytes: ${beginning.slice(0, 200)}`);
process.send?.(took, () => process.exit(0));

function directly(): Readable {
  const program = spawn('git', [service, '--stateless-rpc', place], { stdio: ['pipe', 'pipe', 'inherit'] });
  createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(program.stdin);
  return program.stdout;
}

async function overHttp(): Promise<Readable> {
  const call = request(`${place}/git-${service}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `application/x-git-${service}-request`,
      'content-length': (await stat(file)).size,
    },
  });
  createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(call);
  const [response] = (await once(call, 'response')) as [Readable & { statusCode: number }];
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  return response;
}
