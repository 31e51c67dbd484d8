// The process of small-process.ts.
import { execFile } from 'node:child_process';
import type { RunRequest, RunResult } from './small-process.ts';

process.on('message', ({ job, file, args, folder, environment }: RunRequest) => {
  const options = { cwd: folder, env: environment, maxBuffer: 256 * 1024 * 1024 };
  execFile(file, args, options, (error, stdout, stderr) => {
    const failed = error && { message: error.message, code: error.code, stderr };
    process.send?.({ job, stdout, ...(failed && { failed }) } satisfies RunResult);
  });
});
