import type { ExtraResultOf } from '../../wire-extras.ts';
import { type CommandCall, isConfirmed, printJson } from '../command-call.ts';

/** Takes a machine over, after it was shown what that means. */
export async function adopt(call: CommandCall): Promise<number> {
  const { command, print, progress, stdin } = call;
  const typed = command.words[0] ?? '';
  const isJson = command.flags.has('json');
  if (command.flags.has('dry-run')) {
    const found = await ask(call, { machine: typed, dryrun: true }, isJson ? progress : print);
    if (isJson) printJson(call, found);
    return 0;
  }
  let machine = typed;
  if (!command.flags.has('yes') && stdin.isTTY === true) {
    const found = await ask(call, { machine, dryrun: true }, progress);
    // What is confirmed is adopted, whatever runs or is called so by then.
    machine = found.machine;
    const isAny = found.marked || found.homes + found.states > 0;
    if (isAny && !(await isConfirmed(call, `Adopt ${machine}?`))) return 1;
    if (!isAny) return 0;
  }
  const done = await ask(call, { machine, dryrun: false }, progress);
  if (isJson) printJson(call, done);
  else if (done.marked || done.homes + done.states > 0)
    progress(`adopted ${done.machine}, homes: ${done.homes}, states: ${done.states}`);
  return 0;
}

type Summary = ExtraResultOf<'Adopt'>['summary'];

async function ask(
  { daemon }: CommandCall,
  request: { machine: string; dryrun: boolean },
  onLine: (line: string) => void,
): Promise<Summary> {
  let summary: Summary = { machine: request.machine, marked: false, homes: 0, states: 0 };
  for await (const answer of daemon.stream('Adopt', request, onLine)) summary = answer.summary;
  return summary;
}
