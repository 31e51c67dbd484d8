import type { Context } from '../context.ts';
import { findMachine } from '../rules/find-machine.ts';
import { machineShowText } from '../rules/machine-text.ts';
import type { RequestOf } from '../wire.ts';

/** One machine and its states as text for people. */
export function showMachine(request: RequestOf<'MachineShow'>, context: Context): string {
  const { model } = context.index;
  return machineShowText(model, findMachine(model, request.machineId), request.full);
}
