import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '@croft/failure';
import type { CommandCall } from './command-call.ts';
import { commands } from './commands.ts';
import { DaemonClient, DaemonRefused } from './daemon-client.ts';
import { findDaemon } from './find-daemon.ts';
import { inCommands } from './in-commands.ts';
import { Meter, type Terminal } from './meter.ts';
import { commandNamed, Misuse, parseCommand } from './parse-command.ts';
import { commandHelp, hint, overview } from './usage.ts';

/** Where a command finds its daemon and writes to. */
export interface CommandOptions {
  /** The daemon's socket, see `socketPath`. */
  readonly socket: string;
  readonly stdout: Writable;
  readonly stderr: Terminal & { readonly isTTY?: boolean };
  /** Where questions are answered; nothing is asked unless it is a terminal. */
  readonly stdin?: Readable & { readonly isTTY?: boolean };
}

/** Runs what comes after `croft state`. @returns the exit code: 0 done, 1 failed, 2 not understood */
export async function runStateCommand(argv: readonly string[], options: CommandOptions): Promise<number> {
  const { stdout, stderr } = options;
  const meter = new Meter(stderr.isTTY === true ? stderr : undefined);
  const progress = (line: string) => {
    meter.clear();
    stderr.write(`${line}\n`);
  };
  const complain = (message: string) => progress(`croft state: ${message}`);
  try {
    const command = parseCommand(argv);
    if ('helpOn' in command) {
      stdout.write(`${command.helpOn === 'all' ? overview() : commandHelp(command.helpOn)}\n`);
      return 0;
    }
    using daemon = new DaemonClient(await findDaemon(command, options.socket), {
      debug: command.flags.has('debug'),
      meter,
    });
    const call: CommandCall = {
      command,
      daemon,
      stdin: options.stdin ?? process.stdin,
      print: (text) => {
        meter.clear();
        stdout.write(text.endsWith('\n') ? text : `${text}\n`);
      },
      progress,
      send: (content) => sendTo(stdout, content),
      meter,
    };
    return await commands[command.name](call);
  } catch (error) {
    if (error instanceof Misuse) {
      complain(`${error.message}\n\n${argv.length === 0 ? overview() : hint(commandNamed(argv))}`);
      return 2;
    }
    if (!(error instanceof DaemonRefused || error instanceof Failure)) throw error;
    complain(inCommands(error.message));
    return 1;
  } finally {
    meter.clear();
  }
}

/** Nothing piles up in memory when whoever reads is slow; when he is gone, so are we. */
async function sendTo(out: Writable, content: string | Uint8Array): Promise<void> {
  if (out.write(content) || out.destroyed) return;
  await Promise.race([once(out, 'drain'), once(out, 'close')]);
}
