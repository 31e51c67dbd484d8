/**
 * The program of the broker process: a small Node process that does nothing but start other programs. Forking
 * copies page tables, so starting a program from a large process blocks it for tens of milliseconds and from this
 * one for none. The programs get sockets of the main process as their channels: no byte passes through here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type BrokerReport, type BrokerRequest, SOCKET_NAME, type StartRequest } from './broker-messages.ts';

const MAX_STDERR = 16 * 1024;
const folder = process.argv[2] as string;
/** Undefined between the request and the spawn. */
const running = new Map<string, ChildProcess | undefined>();

process.on('message', (request: BrokerRequest) => {
  if ('start' in request) void start(request);
  else kill(request.kill);
});
// The main process is gone, however that happened: its programs end too, and tidily, for git removes its locks.
process.on('disconnect', () => {
  for (const ticket of running.keys()) kill(ticket);
  process.exit(0);
});
// However we end: when nobody is left to use the folder, it goes.
process.on('exit', () => {
  if (!process.connected) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
});
// A Ctrl-C at the terminal reaches the whole group; the main process decides when we end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

async function start(request: StartRequest): Promise<void> {
  const ticket = request.start;
  running.set(ticket, undefined);
  const sockets: Socket[] = [];
  try {
    const input = request.input ? await open(`${ticket}0`) : undefined;
    if (input !== undefined) sockets.push(input);
    const output = await open(`${ticket}1`);
    sockets.push(output);
    // Killed before it began.
    if (!running.has(ticket))
      return report({ ticket, code: null, signal: 'SIGTERM', stderr: '', connected: true });
    const child = spawn(request.command, request.args, {
      stdio: [input ?? 'ignore', output, 'pipe'],
      env: request.environment,
      // A group of its own, so that what git starts in turn ends with it.
      detached: true,
    });
    running.set(ticket, child);
    await untilClosed(ticket, child);
  } catch (error) {
    const connected = sockets.length === (request.input ? 2 : 1);
    report({ ticket, code: 127, signal: null, stderr: (error as Error).message, connected });
  } finally {
    for (const socket of sockets) socket.destroy();
    running.delete(ticket);
  }

  async function untilClosed(name: string, child: ChildProcess): Promise<void> {
    // The program has its own copies of the sockets now.
    for (const socket of sockets) socket.destroy();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR) stderr += text.slice(0, MAX_STDERR - stderr.length);
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    report({ ticket: name, code, signal, stderr, connected: true });
  }
}

async function open(greeting: string): Promise<Socket> {
  const socket = connect(join(folder, SOCKET_NAME));
  // What arrives belongs to the program; reading even one byte of it here would lose it.
  socket.pause();
  // The main process may go away at any moment; its end reaches us by other ways.
  socket.on('error', () => {});
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(greeting, resolve));
  return socket;
}

function kill(ticket: string): void {
  const child = running.get(ticket);
  if (child === undefined) {
    running.delete(ticket);
    return;
  }
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGTERM');
  } catch {
    // It ended by itself in this moment.
  }
}

function report(message: BrokerReport): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
