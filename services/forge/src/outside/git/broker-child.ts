/**
 * The program of the broker process: a small Node process that does nothing but start other programs. Forking
 * copies page tables, so starting a program from a large process blocks it for tens of milliseconds and from this
 * one for none. The programs get sockets of the main process as their channels: no byte passes through here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  type BrokerReport,
  type BrokerRequest,
  CHANNEL_NAME_LENGTH,
  type ExitReport,
  SOCKET_NAME,
  type StartRequest,
} from './broker-messages.ts';

const MAX_STDERR = 16 * 1024;
/** A connection nobody has a program for by now never will. */
const UNCLAIMED_MS = 30_000;
const folder = process.argv[2] as string;
/** Connections that wait for their program. */
const channels = new Map<string, Socket>();
const running = new Map<number, ChildProcess>();
let connections = 0;

process.on('message', (request: BrokerRequest) => {
  if ('start' in request) void start(request);
  else kill(request.kill);
});
// The main process is gone, however that happened: its programs end too, and tidily, for git removes its locks.
process.on('disconnect', () => {
  for (const job of running.keys()) kill(job);
  process.exit(0);
});
// However we end: when nobody is left to use the folder, it goes.
process.on('exit', () => {
  if (!process.connected) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
});
// A Ctrl-C at the terminal reaches the whole group; the main process decides when we end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

// One that ended without a word left its socket.
rmSync(join(folder, SOCKET_NAME), { force: true });
// What arrives belongs to the program; reading even one byte of it here would lose it.
createServer({ pauseOnConnect: true, allowHalfOpen: true }, greet).listen(join(folder, SOCKET_NAME), () =>
  report('listening'),
);

function greet(socket: Socket): void {
  const name = String(++connections).padStart(CHANNEL_NAME_LENGTH, '0');
  channels.set(name, socket);
  // The main process may go away at any moment; its end reaches us by other ways.
  socket.on('error', () => {});
  socket.write(name);
  setTimeout(() => claim(name)?.destroy(), UNCLAIMED_MS).unref();
}

function claim(name: string): Socket | undefined {
  const socket = channels.get(name);
  channels.delete(name);
  return socket;
}

async function start({ start: job, command, args, environment, stdin, stdout }: StartRequest): Promise<void> {
  const [input, output] = [stdin === undefined ? undefined : claim(stdin), claim(stdout)];
  try {
    const child = spawn(command, args, {
      stdio: [input ?? 'ignore', output ?? 'ignore', 'pipe'],
      env: environment,
      // A group of its own, so that what git starts in turn ends with it.
      detached: true,
    });
    running.set(job, child);
    // The program has its own copies of the sockets now.
    input?.destroy();
    output?.destroy();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR) stderr += text.slice(0, MAX_STDERR - stderr.length);
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    report({ job, code, signal, stderr });
  } catch (error) {
    input?.destroy();
    output?.destroy();
    report({ job, code: 127, signal: null, stderr: (error as Error).message });
  } finally {
    running.delete(job);
  }
}

function kill(job: number): void {
  const pid = running.get(job)?.pid;
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It ended by itself in this moment.
  }
}

function report(message: BrokerReport | ExitReport): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
