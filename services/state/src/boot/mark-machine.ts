import type { Context } from '../context.ts';
import type { MachineMarks } from '../outside/storage/storage.ts';

/** Writes facts of a machine down, in the storage and then in the model. */
export async function markMachine(
  { storage, index }: Context,
  id: string,
  marks: MachineMarks,
): Promise<void> {
  try {
    await storage.markMachine(id, marks);
  } catch (error) {
    // It may be written down all the same: what the storage says is what counts.
    await storage.scan().then(
      (found) => index.found(found),
      () => {},
    );
    throw error;
  }
  const { machines, homes } = index.model;
  index.found({
    machines: machines.map((machine) => (machine.id === id ? { ...machine, ...marks } : machine)),
    homes,
  });
}
