import { isPartial, type Model, storageName } from '../../model/model.ts';

/** Generic clients refuse messages over 4 MiB. */
const MAX_CHUNK_BYTES = 3.5 * 1024 * 1024;

/** Where states are kept, as the dump says it. */
export interface DumpedStorage {
  readonly driver: string;
  readonly location: string;
}

/** The whole model as one JSON document; `docs/api/state.md` describes it, `version` changes when a field goes or changes. */
export function dumpDocument(model: Model, storage: DumpedStorage): string {
  return JSON.stringify({
    version: 1,
    storage: { driver: storage.driver, location: storage.location },
    machines: model.machines.map((machine) => ({
      id: machine.id,
      managed: machine.managed,
      current: machine.current,
      bootedState: machine.bootedState ?? null,
      nextState: machine.nextState ?? null,
      nextUsers: machine.nextRevert?.users ?? false,
      kernel: machine.kernel,
      lastUsedAt: machine.lastUsedAt ?? null,
      datasets: machine.datasets.map(({ name, role, path }) => ({ name, role, path })),
      states: model.states
        .filter((state) => state.machine === machine.id)
        .map((state) => ({
          id: state.id,
          name: state.name,
          storageName: storageName(state),
          kind: state.kind,
          user: state.user ?? null,
          system: state.system ?? null,
          automatic: state.automatic,
          pinned: state.pinned,
          description: state.description,
          kernel: state.kernel,
          oneInstant: state.oneInstant,
          createdAt: state.createdAt,
          imported: state.imported ?? null,
          partial: isPartial(state),
          removing: model.removing.has(state.id),
          members: state.members.map((member) => ({
            dataset: member.dataset,
            role: member.role,
            ...(member.user === undefined ? {} : { user: member.user }),
            path: member.path,
            guid: member.guid,
            snapshot: member.snapshot,
            entries: member.entries,
            bytes: member.bytes,
            unreadable: member.unreadable,
            torn: member.torn,
          })),
        })),
    })),
    homes: model.homes.map(({ user, path, machines }) => ({ user, path, machines })),
  });
}

/** Cuts a text into pieces that fit a message; joined they are the text again. Never cuts a character in two. */
export function chunks(text: string, maxBytes = MAX_CHUNK_BYTES): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + maxBytes, bytes.length);
    // 10xxxxxx continues a character that began before.
    while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
    pieces.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return pieces;
}
