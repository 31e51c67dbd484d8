import { PassThrough, Readable } from 'node:stream';
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
  const socket = daemon?.service.address.replace('unix:', '') ?? '/nonexistent/statesvc.sock';
  const code = await runStateCommand(argv === '' ? [] : argv.split(' '), { socket, stdout, stderr, stdin });
  return { code, out: out(), err: err() };
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
