import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { DaemonClient } from './daemon-client.ts';
import type { Meter } from './meter.ts';
import type { Command } from './parse-command.ts';

/** A command being run. */
export interface CommandCall {
  readonly command: Command;
  readonly daemon: DaemonClient;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** To standard output: what was asked for. */
  readonly print: (text: string) => void;
  /** To standard error: what happens meanwhile. */
  readonly progress: (line: string) => void;
  /** To standard output as it is, no faster than that takes it. */
  readonly send: (content: string | Uint8Array) => Promise<void>;
  /** To standard error while somebody looks at it: how far it is. Whatever else is written takes it away. */
  readonly meter: Meter;
}

/** Runs a command and gives its exit code. */
export type RunCommand = (call: CommandCall) => Promise<number>;

/** Everything the daemon knows, as it sent it. */
export async function dumpText({ daemon, progress }: CommandCall): Promise<string> {
  const pieces = await daemon.call('DumpStates', {}, progress);
  return pieces.map(({ states }) => states).join('');
}

/** A value as JSON for people and programs. */
export function printJson({ print }: CommandCall, value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Asks somebody at a terminal; elsewhere, and with `--yes`, the answer is yes. */
export async function isConfirmed(
  { command, stdin, progress }: CommandCall,
  question: string,
): Promise<boolean> {
  if (command.flags.has('yes') || stdin.isTTY !== true) return true;
  progress(`${question} [y/N]`);
  if (/^y(es)?$/i.test((await firstLine(stdin)).trim())) return true;
  progress('nothing was done');
  return false;
}

/** What somebody types, which is nothing where it ends at once. */
async function firstLine(input: CommandCall['stdin']): Promise<string> {
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}
