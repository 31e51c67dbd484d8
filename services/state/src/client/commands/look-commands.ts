import { findMachine } from '../../rules/machines/find-machine.ts';
import { type CommandCall, dumpText, printJson } from '../command-call.ts';
import { documentOf, readDump } from './dumped-model.ts';

/** The machines of this host. */
export async function list(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress } = call;
  if (command.flags.has('json')) {
    const { machines } = documentOf(await dumpText(call));
    printJson(
      call,
      machines.map(({ states, ...machine }) => ({ ...machine, states: states.length })),
    );
    return 0;
  }
  const pieces = await daemon.call('MachineList', {}, progress);
  print(pieces.map(({ machineList }) => machineList).join(''));
  return 0;
}

/** A machine and its states. */
export async function show(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress } = call;
  const machineId = command.words[0] ?? '';
  if (command.flags.has('json')) {
    const text = await dumpText(call);
    const { id } = findMachine(readDump(text).model, machineId);
    printJson(
      call,
      documentOf(text).machines.find((machine) => machine.id === id),
    );
    return 0;
  }
  const request = { machineId, full: command.flags.has('full') };
  const pieces = await daemon.call('MachineShow', request, progress);
  print(pieces.map(({ machineInfo }) => machineInfo).join(''));
  return 0;
}

/** Homes that are saved, and where they are. */
export async function users(call: CommandCall): Promise<number> {
  const text = await dumpText(call);
  const { homes } = readDump(text).dump;
  if (call.command.flags.has('json')) printJson(call, documentOf(text).homes);
  else if (homes.length === 0 && call.meter.isSeen)
    call.progress('no homes are saved yet: `croft state users create <user> <home>` adds one');
  else
    for (const { user, path, machines } of homes)
      call.print(`${user}  ${path}  ${machines.join(', ') || '(no machine)'}`);
  return 0;
}

/** How the daemon is. */
export async function status({ daemon, print }: CommandCall): Promise<number> {
  await daemon.call('Status', {}, print);
  return 0;
}

/** Everything the daemon knows. */
export async function dump(call: CommandCall): Promise<number> {
  call.print(await dumpText(call));
  return 0;
}

/** The daemon's version. */
export async function version(call: CommandCall): Promise<number> {
  for (const result of await call.daemon.call('Version', {}, call.progress)) {
    if (call.command.flags.has('json')) printJson(call, { version: result.version });
    else call.print(result.version);
  }
  return 0;
}
