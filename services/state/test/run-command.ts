import { PassThrough, Readable, Writable } from 'node:stream';
import { runStateCommand } from '../src/client/index.ts';
import type { Daemon } from './daemon.ts';

/**
 * Runs `croft state …` and gives what it printed.
 * @param typed what somebody types at a terminal, or what happens before he types `y`
 */
export async function runCommand(
  daemon: Daemon | undefined,
  argv: string,
  typed?: string | (() => Promise<unknown>),
) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [textOf(stdout), textOf(stderr)];
  const stdin = Object.assign(Readable.from(textFrom(typed)), {
    isTTY: typed !== undefined,
  });
  const socket = socketOf(daemon);
  const code = await runStateCommand(argv === '' ? [] : argv.split(' '), { socket, stdout, stderr, stdin });
  return { code, out: out(), err: err() };
}

/** The same with an output that takes nothing. */
export async function runInto(daemon: Daemon, argv: string, failure: NodeJS.ErrnoException) {
  const stdout = new Writable({ write: (_content, _encoding, done) => done(failure) });
  const stderr = new PassThrough();
  const err = textOf(stderr);
  const outputs = { stdout, stderr, stdin: Readable.from([]) };
  const code = await runStateCommand(argv.split(' '), { socket: socketOf(daemon), ...outputs });
  return { code, err: err() };
}

/** The same where somebody looks: both outputs are one terminal. */
export async function runOnTerminal(daemon: Daemon, argv: string, columns = 80) {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns });
  const shown = textOf(terminal);
  const outputs = { stdout: terminal, stderr: terminal, stdin: Readable.from([]) };
  const code = await runStateCommand(argv.split(' '), { socket: socketOf(daemon), ...outputs });
  return { code, shown: shown() };
}

function socketOf(daemon: Daemon | undefined): string {
  return daemon?.service.address.replace('unix:', '') ?? '/nonexistent/statesvc.sock';
}

async function* textFrom(typed?: string | (() => Promise<unknown>)) {
  if (typeof typed === 'function') await typed();
  if (typed !== undefined) yield typeof typed === 'string' ? typed : 'y\n';
}

/** Reads all the time, as a terminal does. */
function textOf(stream: PassThrough): () => string {
  let text = '';
  stream.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  return () => Buffer.from(text, 'latin1').toString();
}
