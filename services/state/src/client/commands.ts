import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { materialise } from '../outside/storage/vault/materialise.ts';
import { findMachine } from '../rules/find-machine.ts';
import { findState } from '../rules/find-state.ts';
import type { DaemonClient } from './daemon-client.ts';
import { readDump } from './dumped-model.ts';
import type { Command } from './parse-command.ts';

/** A command being run. */
export interface Call {
  readonly command: Command;
  readonly daemon: DaemonClient;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** To standard output: what was asked for. */
  readonly print: (text: string) => void;
  /** To standard error: what happens meanwhile. */
  readonly progress: (line: string) => void;
}

/** Every command; each gives its exit code. */
export const commands: Record<Command['name'], (call: Call) => Promise<number>> = {
  list,
  show,
  save,
  remove,
  restore,
  status,
  dump,
  version,
};

async function list({ command, daemon, print, progress }: Call): Promise<number> {
  if (command.flags.has('json')) {
    const { dump } = readDump(await dumpText(daemon, progress));
    printJson(
      print,
      dump.machines.map(({ states, ...machine }) => ({ ...machine, states: states.length })),
    );
    return 0;
  }
  for (const { machineList } of await daemon.call('MachineList', {}, progress)) print(machineList);
  return 0;
}

async function show({ command, daemon, print, progress }: Call): Promise<number> {
  const machineId = command.words[0] ?? '';
  if (command.flags.has('json')) {
    const { dump, model } = readDump(await dumpText(daemon, progress));
    const { id } = findMachine(model, machineId);
    printJson(
      print,
      dump.machines.find((machine) => machine.id === id),
    );
    return 0;
  }
  const request = { machineId, full: command.flags.has('full') };
  for (const { machineInfo } of await daemon.call('MachineShow', request, progress)) print(machineInfo);
  return 0;
}

async function save({ command, daemon, print, progress }: Call): Promise<number> {
  const request = {
    stateName: command.words[0] ?? '',
    updateBootMenu: command.flags.has('boot-menu'),
    autosave: command.flags.has('auto'),
  };
  for (const { stateName } of await daemon.call('SaveSystemState', request, progress)) {
    if (command.flags.has('json')) printJson(print, { stateName });
    else if (stateName !== '') print(stateName);
  }
  return 0;
}

async function remove({ command, daemon, print, progress, stdin }: Call): Promise<number> {
  const request = { stateName: command.words[0] as string, force: command.flags.has('force'), dryrun: true };
  if (command.flags.has('dry-run')) {
    await daemon.call('RemoveSystemState', request, print);
    return 0;
  }
  if (!command.flags.has('yes') && stdin.isTTY === true) {
    await daemon.call('RemoveSystemState', request, progress);
    if (!(await confirmed(stdin, progress))) return 1;
  }
  await daemon.call('RemoveSystemState', { ...request, dryrun: false }, progress);
  return 0;
}

async function restore({ command, daemon, progress }: Call): Promise<number> {
  const [wanted, folder] = command.words as [string, string];
  const { dump, model } = readDump(await dumpText(daemon, progress));
  const { members } = findState(model, wanted);
  let problems = 0;
  for (const member of members) {
    const target = members.length === 1 ? folder : `${folder}/${member.dataset}`;
    const restored = await materialise(dump.storage.location, member.snapshot, target);
    for (const problem of restored.problems) progress(`warning: ${problem}`);
    problems += restored.problems.length;
    progress(`restored ${member.dataset} to ${target}: ${restored.entries} entries`);
  }
  return problems === 0 ? 0 : 1;
}

async function status({ daemon, print }: Call): Promise<number> {
  await daemon.call('Status', {}, print);
  return 0;
}

async function dump({ daemon, print, progress }: Call): Promise<number> {
  print(await dumpText(daemon, progress));
  return 0;
}

async function version({ command, daemon, print, progress }: Call): Promise<number> {
  for (const result of await daemon.call('Version', {}, progress)) {
    if (command.flags.has('json')) printJson(print, { version: result.version });
    else print(result.version);
  }
  return 0;
}

async function dumpText(daemon: DaemonClient, progress: (line: string) => void): Promise<string> {
  const pieces = await daemon.call('DumpStates', {}, progress);
  return pieces.map(({ states }) => states).join('');
}

function printJson(print: (text: string) => void, value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

async function confirmed(stdin: Readable, progress: (line: string) => void): Promise<boolean> {
  progress('Remove it? [y/N]');
  const lines = createInterface({ input: stdin });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
