import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runStateCommand } from '@croft/state/client';
import { credentials } from '@grpc/grpc-js';
import { DaemonClient } from '../../services/state/src/client/daemon-client.ts';
import type { OperationName, RequestOf } from '../../services/state/src/wire.ts';
import type { Started } from './daemon-process.ts';

/** A daemon in a process of its own, as people run it, and its client. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number;
  /** Its socket as gRPC names it. */
  readonly address: string;
  /** What the daemon itself took to start, without Node and loading the program. */
  readonly startedMs: number;
  /** Runs a command of `croft state` and gives what it printed. */
  run(...command: string[]): Promise<string>;
  /** Calls it over a connection that stays, as a program would. @returns how many lines it told, and the milliseconds */
  call<N extends OperationName>(operation: N, request: RequestOf<N>): Promise<{ lines: number; ms: number }>;
  /** What a command took, with the client's connection. */
  time(...command: string[]): Promise<number>;
  /** What the daemon takes to save the system, asked over the connection that stays. */
  timeSave(stateName: string): Promise<number>;
  /** The same for its removal. */
  timeRemoval(stateName: string): Promise<number>;
}

/** Starts a daemon whose system is `<place>/tree`, unless settings say otherwise, and which keeps its things in `<place>/state`. */
export async function startDaemon(place: string, settings: object = {}): Promise<Daemon> {
  const script = join(import.meta.dirname, 'daemon-process.ts');
  const child = fork(script, [place, JSON.stringify(settings)], { execArgv: [] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('the daemon did not start');
  });
  const [{ address, startedMs }] = (await Promise.race([once(child, 'message'), failed])) as [Started];
  failed.catch(() => {});
  const socket = address.replace('unix:', '');
  const run = (...command: string[]) => runCommand(socket, command);
  const kept = { address, credentials: credentials.createInsecure(), token: undefined, advice: '' };
  const client = new DaemonClient(kept, { debug: false });
  const call: Daemon['call'] = async (operation, request) => {
    const begun = performance.now();
    let lines = 0;
    await client.call(operation, request, () => lines++);
    return { lines, ms: performance.now() - begun };
  };
  const time = async (...command: string[]) => {
    const start = performance.now();
    await run(...command);
    return performance.now() - start;
  };
  const timeSave = async (stateName: string) =>
    (await call('SaveSystemState', { stateName, updateBootMenu: false, autosave: false })).ms;
  const timeRemoval = async (stateName: string) =>
    (await call('RemoveSystemState', { stateName, force: false, dryrun: false })).ms;
  const close = async () => {
    client[Symbol.dispose]();
    await stop(child);
  };
  return {
    pid: child.pid ?? 0,
    address,
    startedMs,
    run,
    call,
    time,
    timeSave,
    timeRemoval,
    [Symbol.asyncDispose]: close,
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.send('stop');
  await once(child, 'exit');
}

async function runCommand(socket: string, command: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [printed, told]: [string[], string[]] = [[], []];
  stdout.on('data', (piece) => printed.push(String(piece)));
  stderr.on('data', (piece) => told.push(String(piece)));
  const code = await runStateCommand(command, { socket, stdout, stderr });
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${told.join('')}`);
  return printed.join('');
}
