import type { Member, State } from '../../../../model/model.ts';
import type { KeptSave } from '../../storage.ts';
import type { Layout } from '../layout.ts';
import type { Properties } from '../read-properties.ts';
import type { Tree } from '../tree.ts';
import { batches, datasetOf, type ZfsCommands } from '../zfs-commands.ts';
import { adoptedNames, isOfAnySave } from './adopted-names.ts';
import { importedTrees, importOf } from './import-datasets.ts';
import {
  type Completion,
  chunkNames,
  hasSecond,
  identityOf,
  isOurs,
  json,
  type Note,
  type Outline,
  recordOf,
  secondNames,
} from './save-record.ts';

const IDENTITY = ['guid', 'createtxg'];
const ASKED = [...IDENTITY, 'croft:note', ...chunkNames('croft:state'), ...chunkNames('croft:complete')];

/** Saves that the pools hold. */
export interface FoundSaves {
  /** Newest first. */
  readonly states: readonly State[];
  /** Ids of those without their mark. */
  readonly leftovers: readonly string[];
  /** Those of which it cannot be told. */
  readonly kept: readonly KeptSave[];
}

/**
 * What is needed of one save to tell its states. Each root has all of it written down, so with many users that is held once, and
 * of a root only what is its own.
 */
interface Save {
  readonly outline: Outline;
  /** The mark of the first state decides, while its snapshot is there; without that what the others say of all. */
  completion: Completion | undefined;
  /** Who the first state's snapshot is; undefined while no mark has told. */
  lead: string | undefined;
  /** Snapshots of its trees' roots, by who they are. */
  readonly roots: Map<string, Root>;
}

/** The snapshot of a tree's root. */
interface Root {
  readonly name: string;
  readonly note: Note;
}

/**
 * Finds states by the snapshots of the roots of our own trees. Those of others that were not adopted, and whatever lies elsewhere,
 * are not looked at.
 * @param busy ids of imports that come in
 */
export async function scanStates(
  layout: Layout,
  zfs: ZfsCommands,
  busy: ReadonlySet<string> = new Set(),
): Promise<FoundSaves> {
  const roots = [...new Set(treesOf(layout).map(({ root }) => root.name))];
  if (roots.length === 0) return { states: [], leftovers: [], kept: [] };
  const adopted = adoptedNames(layout.systems);
  const names = (await zfs.snapshotsOf(roots)).filter((name) => isOfAnySave(name, adopted));
  const states: State[] = [];
  const leftovers: string[] = [];
  const kept: KeptSave[] = [];
  const imports = new Set(layout.systems.flatMap((system) => importOf(system) ?? []));
  const saves = await readSaves(names, zfs);
  // Those that have no snapshot yet, or no more.
  const bare = [...imports].filter((id) => !saves.some(({ outline }) => outline.id === id));
  leftovers.push(...bare.filter((id) => !busy.has(id)));
  for (const save of saves) {
    if (save.completion !== undefined) {
      states.push(...statesOf(save, save.completion));
      continue;
    }
    // Nobody made what is adopted for us: who asks again finishes an adoption.
    const isAdopted = [...save.roots.values()].every(({ name }) => !isOurs(name));
    if (busy.has(save.outline.id) || isAdopted) continue;
    const doubt = await doubtOf(save, layout, zfs, imports);
    if (doubt === undefined) leftovers.push(save.outline.id);
    else kept.push({ id: save.outline.id, ...doubt });
  }
  // The order within a save stays: the system state, then its users'.
  states.sort((a, b) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1));
  return { states, leftovers, kept };
}

/** Some at a time: all of them are as much as the square of the number of users. */
async function* readRecords(
  names: readonly string[],
  zfs: ZfsCommands,
): AsyncGenerator<readonly [string, Properties]> {
  for (const batch of batches(names)) yield* await readBatch(batch, zfs);
}

async function readBatch(names: readonly string[], zfs: ZfsCommands): Promise<Map<string, Properties>> {
  const found = await zfs.properties(names, ASKED);
  const replaced = names.filter((name) => hasSecond('croft:complete', found.get(name) ?? new Map()));
  const rest = await zfs.properties(replaced, secondNames('croft:complete'));
  for (const [name, more] of rest) found.set(name, new Map([...(found.get(name) ?? []), ...more]));
  return found;
}

/** Why a save without a completion mark may be complete all the same; undefined when it is not. */
async function doubtOf(
  { outline, roots }: Save,
  { systems }: Layout,
  zfs: ZfsCommands,
  imports: ReadonlySet<string>,
): Promise<Omit<KeptSave, 'id'> | undefined> {
  // What was imported does not lie in the datasets that it is called by.
  const isHere = (root: string) => imports.has(outline.id) || systems.some(({ name }) => name === root);
  const away = outline.trees.find(({ root }) => !isHere(root));
  if (away !== undefined) return { why: `${away.root} is not there now`, isUnmarked: false };
  const ends = new Set([...roots.values()].map(({ name }) => name.replace(/^[^@]*/, '')));
  const possible = [...ends].flatMap((end) => systems.map(({ name }) => `${name}${end}`));
  // The lead's dataset may be there and be no machine's any more.
  const scanned = new Set([...roots.values()].map(({ name }) => name));
  for await (const [name, properties] of readRecords(possible, zfs)) {
    if (recordOf<Outline>('croft:state', properties)?.id !== outline.id) continue;
    const parts = chunkNames('croft:complete').filter((part) => properties.get(part)?.source === 'local');
    if (parts.length === 0 || (scanned.has(name) && completionOf(properties) !== undefined)) continue;
    const isUnmarked = !parts.includes('croft:complete');
    return { why: `the completion mark on ${name} cannot be read`, isUnmarked };
  }
  return undefined;
}

/** Every tree that states may have members in. */
export function treesOf({ machines, homes, systems }: Layout): readonly Tree[] {
  const ofSystems = machines.flatMap(({ heads }) => heads.flatMap(({ system, boots }) => [system, ...boots]));
  return [...ofSystems, ...homes.flatMap(({ heads }) => heads), ...importedTrees(systems)];
}

async function readSaves(names: readonly string[], zfs: ZfsCommands): Promise<readonly Save[]> {
  const saves = new Map<string, Save>();
  for await (const [name, properties] of readRecords(names, zfs)) {
    const outline = recordOf<Outline>('croft:state', properties);
    if (outline === undefined) continue;
    const save = saves.get(outline.id) ?? {
      outline,
      completion: undefined,
      lead: undefined,
      roots: new Map(),
    };
    saves.set(outline.id, save);
    addRoot(save, name, properties);
  }
  return [...saves.values()];
}

function addRoot(save: Save, name: string, properties: Properties): void {
  const own = identityOf(properties);
  if (save.lead === undefined || save.lead === own) {
    const completion = completionOf(properties);
    save.lead ??= completion?.snapshots[0]?.guid;
    // One that was there before and had no mark has decided, too.
    save.completion = save.lead === own || !save.roots.has(save.lead ?? '') ? completion : undefined;
  }
  const note = (json(properties.get('croft:note')?.value ?? '') ?? {}) as Note;
  save.roots.set(own, { name, note });
}

/** A mark that speaks of other snapshots than the one that bears it came from elsewhere. */
function completionOf(properties: Properties): Completion | undefined {
  const completion = recordOf<Completion>('croft:complete', properties);
  const own = identityOf(properties);
  return completion?.snapshots.some(({ guid }) => guid === own) ? completion : undefined;
}

function statesOf(save: Save, completion: Completion): State[] {
  return completion.states.map((state) => {
    const members = membersOf(save, completion, state.user);
    const { pinned, description } = save.roots.get(members[0]?.guid ?? '')?.note ?? {};
    return {
      ...state,
      ...(pinned === undefined ? {} : { pinned }),
      ...(description === undefined ? {} : { description }),
      members,
    };
  });
}

/** Promotion gives snapshots to other datasets, tree by tree: where the root's is now, the others are, too. */
function membersOf({ outline, roots }: Save, { snapshots }: Completion, user: string | undefined): Member[] {
  const end = [...roots.values()][0]?.name.replace(/^[^@]*/, '') ?? '';
  const rootOf = new Map<number, string>();
  return outline.datasets.flatMap(({ tree, below, path }) => {
    const from = outline.trees[tree];
    if (from === undefined || from.user !== user) return [];
    const dataset = `${from.root}${below}`;
    const snapshot = snapshots.find((one) => one.dataset === dataset);
    if (snapshot === undefined) return [];
    const found = below === '' ? roots.get(snapshot.guid)?.name : undefined;
    if (found !== undefined) rootOf.set(tree, datasetOf(found));
    const root = rootOf.get(tree);
    return [
      {
        dataset,
        role: from.role,
        ...(user === undefined ? {} : { user }),
        path,
        guid: snapshot.guid,
        snapshot: `${root ?? from.root}${below}${end}`,
        entries: 0,
        bytes: snapshot.bytes,
        // Somebody destroyed it; others that lie below the root are found out when they are needed.
        unreadable: Math.max(snapshot.unreadable ?? 0, root === undefined ? 1 : 0),
        torn: snapshot.torn ?? 0,
      },
    ];
  });
}
