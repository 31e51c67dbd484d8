import type { Context } from '../context.ts';
import { chunks } from '../rules/machines/dump.ts';
import { machineListText } from '../rules/machines/machine-text.ts';

/** The machines of this host as a table for people, in pieces that every client accepts. */
export function listMachines(context: Context): string[] {
  return chunks(machineListText(context.index.model));
}
