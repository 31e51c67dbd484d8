import { type CommandCall, isConfirmed, printJson, type RunCommand } from '../command-call.ts';
import { Misuse } from '../parse-command.ts';
import { newFile } from './new-file.ts';

/** Makes a home, or says where a user's is. */
export async function createUser({ command, daemon, progress }: CommandCall): Promise<number> {
  const [user, homepath] = command.words as [string, string];
  await daemon.call('CreateUserData', { user, homepath }, progress);
  return 0;
}

/** Moves a home. */
export async function moveHome({ command, daemon, progress }: CommandCall): Promise<number> {
  const [home, newHome] = command.words as [string, string];
  await daemon.call('ChangeHomeOnUserData', { home, newHome }, progress);
  return 0;
}

/** Unlinks a user, and with `--remove-home` empties the home. */
export async function dissociateUser(call: CommandCall): Promise<number> {
  const [user] = call.command.words as [string];
  const removeHome = call.command.flags.has('remove-home');
  if (removeHome && !(await isConfirmed(call, `Delete everything in the home of ${user}?`))) return 1;
  await call.daemon.call('DissociateUser', { user, removeHome }, call.progress);
  return 0;
}

/** Looks into the daemon and writes what it saw to a file that is not there yet, or to standard output with `-o -`. */
export async function trace({ command, daemon, progress, send }: CommandCall): Promise<number> {
  const [type] = command.words as [string];
  const duration = wholeNumber(command.values.duration ?? (type === 'heap' ? '0' : '30'), '--duration');
  const name =
    command.values.output ??
    `croft-state.${type === 'cpu' ? 'cpuprofile' : type === 'heap' ? 'heapsnapshot' : 'jsonl'}`;
  const taken = async () => {
    const results = await daemon.call('Trace', { type, duration }, progress);
    return Buffer.concat(results.map((result) => result.trace));
  };
  if (name === '-') {
    // As it is: a text cannot be as long as a heap, and a line more is none of the trace's.
    await send(await taken());
    return 0;
  }
  // Made before, so that nobody waits for a trace that cannot be written.
  const bytes = await newFile(name, async (file) => {
    const all = await taken();
    await file.writeFile(all);
    return all.length;
  });
  progress(`wrote ${name}, ${bytes} bytes`);
  return 0;
}

/** How much the daemon's own log has. */
export async function logLevel({ command, daemon, progress }: CommandCall): Promise<number> {
  await daemon.call('LoggingLevel', { logginglevel: Number(command.words[0]) }, progress);
  return 0;
}

/** An operation that takes nothing and only tells what it does. */
export function plainly(operation: 'Refresh' | 'Reload' | 'UpdateLastUsed' | 'DaemonStop'): RunCommand {
  return async ({ daemon, progress }) => {
    await daemon.call(operation, {}, progress);
    return 0;
  };
}

/** Writes the boot menu. */
export async function updateMenu({ command, daemon, progress }: CommandCall): Promise<number> {
  await daemon.call('UpdateBootMenu', { auto: command.flags.has('auto') }, progress);
  return 0;
}

/** An operation that says whether something changed. */
export function tellChanged(operation: 'PrepareBoot' | 'CommitBoot'): RunCommand {
  return async (call) => {
    for (const { changed } of await call.daemon.call(operation, {}, call.progress)) {
      if (call.command.flags.has('json')) printJson(call, { changed });
      else call.print(changed ? 'changed' : 'unchanged');
    }
    return 0;
  };
}

function wholeNumber(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Misuse(`${what} is a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}
