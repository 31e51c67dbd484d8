import type { Context } from '../context.ts';
import { machineListText } from '../rules/machines/machine-text.ts';

/** The machines of this host as a table for people. */
export function listMachines(context: Context): string {
  return machineListText(context.index.model);
}
