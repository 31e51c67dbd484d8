import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { ProgramFailed, ProgramOutput, ProgramToRun } from './small-process.ts';

/** What the thread of wait-for-programs.ts is asked; it writes a 1 to `ended` when its answer is on the port. */
export interface WaitRequest {
  program: ProgramToRun;
  port: MessagePort;
  ended: Int32Array;
}
export type WaitResult = { output: ProgramOutput } & { failed?: ProgramFailed };

let waiting: Worker | undefined;

/**
 * Runs a program as `execFileSync` does, and gives what it writes. Not from this process, for the reason that small-process.ts
 * gives: a thread asks the small process, as nobody can wait for an answer without giving others their turn.
 * @throws as `execFile` does, and when it does not end
 */
export function runProgramSync(program: ProgramToRun): string {
  waiting ??= startThread();
  const { port1, port2 } = new MessageChannel();
  const ended = new Int32Array(new SharedArrayBuffer(4));
  waiting.postMessage({ program, port: port2, ended }, [port2]);
  const { file, timeoutMs = 600_000 } = program;
  // One that hangs in the kernel does not end when it is told to.
  if (Atomics.wait(ended, 0, 0, timeoutMs + 10_000) === 'timed-out') throw new Error(`${file} does not end`);
  const { message } = receiveMessageOnPort(port1) as { message: WaitResult };
  port1.close();
  const { output, failed } = message;
  const [stdout, stderr] = [Buffer.from(output.stdout).toString(), Buffer.from(output.stderr).toString()];
  if (failed !== undefined) throw Object.assign(new Error(failed.message), failed, { stdout, stderr });
  return stdout;
}

function startThread(): Worker {
  const thread = new Worker(new URL('wait-for-programs.ts', import.meta.url), { execArgv: [] });
  thread.unref();
  return thread;
}
