import type { Context } from '../context.ts';
import type { Model } from '../model/model.ts';
import { chunks } from '../rules/machines/dump.ts';
import { findMachine } from '../rules/machines/find-machine.ts';
import { machineShowText } from '../rules/machines/machine-text.ts';
import type { RequestOf } from '../wire.ts';

/** What was made of models, which never change: with thousands of states making it takes longer than sending it. */
const made = new WeakMap<Model, Map<string, string[]>>();

/** One machine and its states as text for people, in pieces that every client accepts: users may write long descriptions. */
export function showMachine({ machineId, full }: RequestOf<'MachineShow'>, context: Context): string[] {
  const { model } = context.index;
  const machine = findMachine(model, machineId);
  const texts = made.get(model) ?? new Map<string, string[]>();
  made.set(model, texts);
  const key = `${full} ${machine.id}`;
  const pieces = texts.get(key) ?? chunks(machineShowText(model, machine, full));
  texts.set(key, pieces);
  return pieces;
}
