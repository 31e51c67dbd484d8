import type { Readable, Writable } from 'node:stream';
import { Failure } from '@croft/failure';
import type { CommandCall } from './command-call.ts';
import { commands } from './command-table.ts';
import { completionFor } from './completion.ts';
import { DaemonClient, DaemonRefused } from './daemon-client.ts';
import { FileTrouble } from './file-trouble.ts';
import { findDaemon } from './find-daemon.ts';
import { inCommands } from './in-commands.ts';
import { Interrupted } from './interruption.ts';
import { Meter, type Terminal } from './meter.ts';
import { commandNamed, Misuse, parseCommand } from './parse-command.ts';
import { OutputLost, StandardOutput } from './standard-output.ts';
import { commandHelp, hint, overview } from './usage.ts';

/** Where a command finds its daemon and writes to. */
export interface CommandOptions {
  /** The daemon's socket, see `socketPath`. */
  readonly socket: string;
  /** Whose the socket has to be when nobody named it, as user ids. */
  readonly owners?: readonly number[] | undefined;
  readonly stdout: Writable;
  readonly stderr: Terminal & { readonly isTTY?: boolean };
  /** Where questions are answered; nothing is asked unless it is a terminal. */
  readonly stdin?: Readable & { readonly isTTY?: boolean };
}

/** Runs what comes after `croft state`. @returns the exit code: 0 done, 1 failed, 2 not understood, from 129 on interrupted */
export async function runStateCommand(argv: readonly string[], options: CommandOptions): Promise<number> {
  const { stderr } = options;
  const stdout = new StandardOutput(options.stdout);
  // What happens meanwhile is for whoever looks; nothing fails because nobody can.
  stderr.on('error', () => {});
  const meter = new Meter(stderr.isTTY === true ? stderr : undefined);
  const progress = (line: string) => {
    meter.clear();
    stderr.write(`${line}\n`);
  };
  const complain = (message: string) => progress(`croft state: ${message}`);
  try {
    const command = parseCommand(argv);
    if ('helpOn' in command) {
      stdout.print(`${command.helpOn === 'all' ? overview() : commandHelp(command.helpOn)}\n`);
      await stdout.flush();
      return 0;
    }
    // The installation asks for it before there is a daemon.
    if (command.name === 'completion') {
      stdout.print(completionFor(command.words[0]));
      await stdout.flush();
      return 0;
    }
    using daemon = new DaemonClient(await findDaemon(command, options), {
      debug: command.flags.has('debug'),
      json: command.flags.has('json'),
      meter,
    });
    const call: CommandCall = {
      command,
      daemon,
      stdin: options.stdin ?? process.stdin,
      print: (text) => {
        meter.clear();
        stdout.print(text.endsWith('\n') ? text : `${text}\n`);
      },
      progress,
      send: (content) => stdout.send(content),
      meter,
    };
    const code = await commands[command.name](call);
    await stdout.flush();
    return code;
  } catch (error) {
    if (error instanceof Misuse) {
      complain(`${error.message}\n\n${argv.length === 0 ? overview() : hint(commandNamed(argv))}`);
      return 2;
    }
    if (error instanceof Interrupted) {
      complain(error.message);
      return error.exitCode;
    }
    if (error instanceof DaemonRefused || error instanceof Failure) complain(inCommands(error.message));
    else if (!(error instanceof FileTrouble || error instanceof OutputLost)) throw error;
    else if (error.message !== '') complain(error.message);
    return 1;
  } finally {
    meter.clear();
  }
}
