/** A subvolume as `btrfs subvolume list` tells it. */
export interface ListedSubvolume {
  readonly id: string;
  /** The id of the one that it lies in. */
  readonly parentId: string;
  /** Empty when it was not asked for. */
  readonly uuid: string;
  /** From the top level on. */
  readonly path: string;
}

/** A subvolume as `btrfs subvolume show` tells it. */
export interface ShownSubvolume {
  readonly id: string;
  readonly uuid: string;
  /** The subvolume it is a snapshot of; undefined when it is none. */
  readonly parentUuid: string | undefined;
  readonly readOnly: boolean;
  /** Nothing was written to it since it was made. */
  readonly pristine: boolean;
}

/** Reads a list. A name with a line break in it makes lines that are no subvolumes, so callers check what they use. */
export function parseList(text: string): ListedSubvolume[] {
  return text.split('\n').flatMap((line) => {
    const found = /^ID (\d+) gen \d+ top level (\d+) (?:.*?\buuid ([0-9a-f-]{36}) )?path (.+)$/.exec(line);
    const [, id, parentId, uuid, path] = found ?? [];
    if (id === undefined || parentId === undefined || path === undefined) return [];
    return [{ id, parentId, uuid: uuid ?? '', path }];
  });
}

/** Reads what is shown of one; undefined when it makes no sense. Its snapshots, which come last, are not read. */
export function parseShow(text: string): ShownSubvolume | undefined {
  const [facts = ''] = text.split('\n\tSnapshot(s):');
  const valueOf = (name: string) => new RegExp(`^\\t${name}:[ \\t]+(.+)$`, 'm').exec(facts)?.[1];
  const [id, uuid, parent] = [valueOf('Subvolume ID'), valueOf('UUID'), valueOf('Parent UUID')];
  if (id === undefined || uuid === undefined || uuid.length !== 36) return undefined;
  const parentUuid = parent === '-' ? undefined : parent;
  const readOnly = valueOf('Flags')?.includes('readonly') ?? false;
  return { id, uuid, parentUuid, readOnly, pristine: valueOf('Generation') === valueOf('Gen at creation') };
}
