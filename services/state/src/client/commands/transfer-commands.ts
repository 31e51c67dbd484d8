import { createReadStream } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { sizeText } from '../../rules/machines/sizes.ts';
import { type CommandCall, printJson } from '../command-call.ts';
import { FileTrouble, withFiles } from '../file-trouble.ts';
import { untilInterrupted } from '../interruption.ts';
import { namedState } from './annotate-commands.ts';
import { newFile } from './new-file.ts';

/** With the few bytes around it a message stays within what the daemon takes. */
const MESSAGE_BYTES = 60 * 1024;

/** Writes a state to a file that is not there yet, or to standard output with `-o -`. */
export async function exportState(call: CommandCall): Promise<number> {
  const { command, progress } = call;
  const { stateName } = namedState(call);
  const name = command.values.output ?? `${stateName.replace(/^.*[/@]/, '').replace(/^[-.]+/, '_')}.tar`;
  if (name === '-') {
    await receive(call, call.send);
    return 0;
  }
  const { bytes, sha256 } = await newFile(name, (file) =>
    receive(call, (content) => writeAll(file, content)),
  );
  progress(`wrote ${name}, ${sizeText(bytes)}, SHA-256 ${sha256}`);
  return 0;
}

async function writeAll(file: FileHandle, content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.length; ) at += (await file.write(content, at)).bytesWritten;
}

async function receive(
  call: CommandCall,
  take: (content: Uint8Array) => Promise<void>,
): Promise<{ bytes: number; sha256: string }> {
  const { command, daemon, progress, meter } = call;
  const request = { ...namedState(call), users: command.flags.has('users') };
  let summary = { bytes: 0, sha256: '' };
  let received = 0;
  for await (const answer of daemon.stream('Export', request, progress)) {
    if ('summary' in answer && answer.summary) summary = answer.summary;
    else if ('content' in answer) {
      await take(answer.content);
      received += answer.content.length;
      meter.show(() => sizeText(received));
    }
  }
  return summary;
}

/** Takes an exported state in. */
export async function importState(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress } = call;
  const [file, name = ''] = command.words as [string, string | undefined];
  const total = file === '-' ? undefined : await sizeOf(file);
  const content = file === '-' ? call.stdin : createReadStream(file, { highWaterMark: MESSAGE_BYTES });
  const what = `${file === '-' ? 'standard input' : file} could not be read`;
  const stateName = await untilInterrupted(
    () => withFiles(what, () => daemon.import(name, inPieces(content, call, total), progress)),
    'the daemon drops what it has of it, unless it has all: `croft state show` tells',
  );
  if (command.flags.has('json')) printJson(call, { stateName });
  else print(stateName);
  return 0;
}

async function sizeOf(file: string): Promise<number> {
  const facts = await stat(file).catch((error: Error) => {
    throw new FileTrouble(`${file} cannot be read: ${error.message}`);
  });
  if (facts.isDirectory()) throw new FileTrouble(`${file} is a folder, not what an export wrote`);
  return facts.size;
}

async function* inPieces(
  content: AsyncIterable<Uint8Array>,
  { meter }: CommandCall,
  total: number | undefined,
): AsyncGenerator<Uint8Array> {
  const of = total === undefined ? '' : ` of ${sizeText(total)}`;
  let sent = 0;
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) yield bytes.subarray(at, at + MESSAGE_BYTES);
    sent += bytes.length;
    meter.show(() => sizeText(sent) + of);
  }
}
