// The process of small-process.ts.
import { type ChildProcess, execFile } from 'node:child_process';
import type { ProgramToRun, RunRequest, RunResult } from './small-process.ts';

const running = new Map<number, ChildProcess>();

process.on('message', (request: RunRequest) => {
  if ('kill' in request) running.get(request.kill)?.kill(request.signal);
  else run(request);
});

function run({
  job,
  file,
  args,
  folder,
  environment,
  maxBytes = 256 * 1024 * 1024,
  timeoutMs = 0,
}: ProgramToRun & { job: number }): void {
  const options = { cwd: folder, env: environment, maxBuffer: maxBytes, timeout: timeoutMs };
  const end = (error: Error | null, stdout: Buffer, stderr: Buffer) => {
    running.delete(job);
    const { code, signal } = (error ?? {}) as { code?: string; signal?: NodeJS.Signals };
    const failed = error && { message: error.message, code, signal };
    process.send?.({ job, stdout, stderr, ...(failed && { failed }) } satisfies RunResult);
  };
  try {
    const child = execFile(file, args, { ...options, encoding: 'buffer' }, end);
    running.set(job, child);
    child.stdin?.end();
  } catch (error) {
    // Arguments that the system does not take.
    end(error as Error, Buffer.alloc(0), Buffer.alloc(0));
  }
}
