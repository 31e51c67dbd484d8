import { timeText } from '../../rules/machines/machine-text.ts';
import { counted } from '../../rules/machines/sizes.ts';
import type { Happening } from '../../wire-extras.ts';
import type { CommandCall } from '../command-call.ts';

/** Tells what happens until the daemon ends or somebody has seen enough. */
export async function watch({ command, daemon, progress, send }: CommandCall): Promise<number> {
  const isJson = command.flags.has('json');
  for await (const answer of daemon.stream('Watch', {}, progress)) {
    if ('ready' in answer && answer.ready) {
      if (!isJson) progress('watching');
    } else if ('event' in answer) {
      const { id, time } = answer.event;
      const { kind, about } = partsOf(answer.event);
      const line = isJson
        ? JSON.stringify({ id, time, [kind]: about })
        : `${timeText(time)}  ${kind}  ${textOf(about)}`;
      await send(`${line}\n`);
    }
  }
  return 0;
}

/** What the message says it is, and that. */
function partsOf(event: Happening): { kind: string; about: About } {
  const { what: kind, ...fields } = event as unknown as { what: string } & Readonly<Record<string, About>>;
  return { kind, about: fields[kind] ?? {} };
}

type About = Readonly<Record<string, string | number | boolean>>;

function textOf({ machine, user, name, id, states }: About): string {
  if (name !== undefined) return `${machine}${user ? `/${user}` : ''}@${name}`;
  if (states !== undefined) return counted(Number(states), 'state');
  return String(user ?? id);
}
