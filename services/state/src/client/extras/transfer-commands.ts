import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { sizeText } from '../../rules/machines/sizes.ts';
import { type CommandCall, printJson } from '../command-call.ts';
import { Misuse } from '../parse-command.ts';
import { namedState } from './annotate-commands.ts';

/** With the few bytes around it a message stays within what the daemon takes. */
const MESSAGE_BYTES = 60 * 1024;
const METER_MS = 200;

/** Writes a state to a file that is not there yet, or to standard output with `-o -`. */
export async function exportState(call: CommandCall): Promise<number> {
  const { command, progress } = call;
  const { stateName } = namedState(call);
  const name = command.values.output ?? `${stateName.replace(/^.*[/@]/, '').replace(/^[-.]+/, '_')}.tar`;
  if (name === '-') {
    await receive(call, call.send);
    return 0;
  }
  // It holds what only its owner may read; and nothing is overwritten.
  const file = await open(name, 'wx', 0o600).catch((error: Error) => {
    throw new Misuse(`${name} cannot be written: ${error.message}`);
  });
  try {
    const { bytes, sha256 } = await intoFile(call, file);
    progress(`wrote ${name}, ${sizeText(bytes)}, SHA-256 ${sha256}`);
    return 0;
  } catch (error) {
    // Half a state is none.
    await unlink(name);
    throw error;
  }
}

async function intoFile(call: CommandCall, file: FileHandle): Promise<{ bytes: number; sha256: string }> {
  try {
    return await receive(call, (content) => writeAll(file, content));
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.length; ) at += (await file.write(content, at)).bytesWritten;
}

async function receive(
  call: CommandCall,
  take: (content: Uint8Array) => Promise<void>,
): Promise<{ bytes: number; sha256: string }> {
  const { command, daemon } = call;
  const meter = new Meter(call);
  const request = { ...namedState(call), users: command.flags.has('users') };
  let summary = { bytes: 0, sha256: '' };
  try {
    for await (const answer of daemon.stream('Export', request, meter.line)) {
      if ('summary' in answer && answer.summary) summary = answer.summary;
      else if ('content' in answer) {
        await take(answer.content);
        meter.add(answer.content.length);
      }
    }
  } finally {
    meter.end();
  }
  return summary;
}

/** Takes an exported state in. */
export async function importState(call: CommandCall): Promise<number> {
  const { command, daemon, print } = call;
  const [file, name = ''] = command.words as [string, string | undefined];
  const total = file === '-' ? undefined : await sizeOf(file);
  const meter = new Meter(call, total);
  try {
    const content = file === '-' ? call.stdin : createReadStream(file, { highWaterMark: MESSAGE_BYTES });
    const stateName = await daemon.import(name, inPieces(content, meter), meter.line);
    if (command.flags.has('json')) printJson(call, { stateName });
    else print(stateName);
    return 0;
  } finally {
    meter.end();
  }
}

async function sizeOf(file: string): Promise<number> {
  const facts = await stat(file).catch((error: Error) => {
    throw new Misuse(`${file} cannot be read: ${error.message}`);
  });
  if (facts.isDirectory()) throw new Misuse(`${file} is a folder`);
  return facts.size;
}

async function* inPieces(content: AsyncIterable<Uint8Array>, meter: Meter): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) yield bytes.subarray(at, at + MESSAGE_BYTES);
    meter.add(bytes.length);
  }
}

/** How far it is, on a terminal only: one line that is written again and again. */
class Meter {
  readonly #call: CommandCall;
  readonly #total: number | undefined;
  #bytes = 0;
  #shownAt = 0;

  constructor(call: CommandCall, total?: number) {
    this.#call = call;
    this.#total = total;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    const now = performance.now();
    if (this.#call.terminal === undefined || now - this.#shownAt < METER_MS) return;
    this.#shownAt = now;
    const share = this.#total ? ` of ${sizeText(this.#total)}` : '';
    this.#call.terminal.write(`\r${sizeText(this.#bytes)}${share}\u001b[K`);
  }

  /** A line of its own, and not after the one that is written again. */
  readonly line = (line: string): void => {
    this.end();
    this.#call.progress(line);
  };

  end(): void {
    if (this.#shownAt > 0) this.#call.terminal?.write('\r\u001b[K');
    this.#shownAt = 0;
  }
}
