import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A program to run to its end. */
export interface ProgramToRun {
  file: string;
  args: readonly string[];
  folder: string;
  environment: Readonly<NodeJS.ProcessEnv>;
  /** Most bytes of output; 256 MiB without it. */
  maxBytes?: number;
  /** It is ended after so long. */
  timeoutMs?: number;
}

/** What `execFile` says of a program that failed. */
export interface ProgramFailed {
  message: string;
  code?: string | number | null | undefined;
  signal?: NodeJS.Signals | null | undefined;
}

/** What the process of run-programs.ts is asked, and what it answers. */
export type RunRequest = (ProgramToRun & { job: number }) | { kill: number; signal: NodeJS.Signals };
export type RunResult = { job: number } & ProgramOutput & { failed?: ProgramFailed };

/** What a program has written. */
export interface ProgramOutput {
  stdout: Buffer;
  stderr: Buffer;
}

/** A program that was started. */
export interface StartedProgram {
  /** Rejects as `execFile` does, with what was written. */
  ended: Promise<ProgramOutput>;
  kill(signal: NodeJS.Signals): boolean;
}

interface Running {
  child: ChildProcess;
  jobs: Map<number, PromiseWithResolvers<ProgramOutput>>;
}

let running: Running | undefined;
let asked = 0;

/**
 * Starts a program by a process of our own, because Node copies what it knows of its memory for each start, and has to let go of it
 * again. With 300 to 460 MB, as the workers of the tests have, a quarter of the processor's time went there; a file with eleven
 * thousand programs took 81 s instead of 103.
 */
export function startProgram(program: ProgramToRun): StartedProgram {
  running ??= start();
  const { child, jobs } = running;
  const done = Promise.withResolvers<ProgramOutput>();
  const job = asked++;
  jobs.set(job, done);
  child.channel?.ref();
  const ask = (request: RunRequest) => child.send(request, (error) => error && done.reject(error));
  ask({ job, ...program });
  const ended = done.promise.finally(() => {
    jobs.delete(job);
    // It ends with us, and we do not stay for it.
    if (jobs.size === 0) child.channel?.unref();
  });
  return { ended, kill: (signal) => jobs.has(job) && ask({ kill: job, signal }) };
}

/**
 * Runs a program so and gives what it writes.
 * @throws as `execFile` does
 */
export async function runProgram(program: ProgramToRun): Promise<string> {
  const { stdout } = await startProgram(program).ended;
  return stdout.toString();
}

function start(): Running {
  const child = fork(fileURLToPath(new URL('run-programs.ts', import.meta.url)), {
    execArgv: [],
    serialization: 'advanced',
  });
  const jobs: Running['jobs'] = new Map();
  const started = { child, jobs };
  child.on('message', ({ job, failed, ...output }: RunResult) => {
    const done = jobs.get(job);
    if (failed === undefined) done?.resolve(output);
    else done?.reject(Object.assign(new Error(failed.message), failed, output));
  });
  const lose = (reason: Error) => {
    if (running === started) running = undefined;
    for (const done of jobs.values()) done.reject(reason);
  };
  child.on('error', lose);
  child.on('exit', () => lose(new Error('the process that runs programs has ended')));
  child.unref();
  return started;
}
