import type { Member, State } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import type { Tree } from '../tree.ts';
import { datasetOf, type Properties, type ZfsCommands } from '../zfs-commands.ts';
import {
  type Completion,
  chunkNames,
  identityOf,
  isOurs,
  json,
  type Note,
  type Outline,
  recordOf,
} from './save-record.ts';

const IDENTITY = ['guid', 'createtxg'];
const ASKED = [...IDENTITY, 'croft:note', ...chunkNames('croft:state'), ...chunkNames('croft:complete')];

/** Saves that the pools hold. */
export interface FoundSaves {
  /** Newest first. */
  readonly states: readonly State[];
  /** Ids of those without their mark. */
  readonly leftovers: readonly string[];
}

/** What is needed of one save to tell its states. */
interface Save {
  readonly outline: Outline;
  readonly completion: Completion | undefined;
  /** Names of the snapshots of its trees' roots, by who they are. */
  readonly roots: ReadonlyMap<string, Root>;
}

/** The snapshot of a tree's root. */
interface Root {
  readonly name: string;
  readonly note: Note;
  readonly completion: Completion | undefined;
}

/**
 * Finds states by the snapshots of the roots of our own trees. Those of others, and whatever lies elsewhere, are not looked at.
 */
export async function scanStates(layout: Layout, zfs: ZfsCommands): Promise<FoundSaves> {
  const roots = [...new Set(treesOf(layout).map(({ root }) => root.name))];
  if (roots.length === 0) return { states: [], leftovers: [] };
  const names = (await zfs.snapshotsOf(roots)).filter(isOurs);
  const found = await zfs.properties(names, ASKED);
  const states: State[] = [];
  const leftovers: string[] = [];
  for (const save of savesOf(found)) {
    if (save.completion === undefined) leftovers.push(save.outline.id);
    else states.push(...statesOf(save, save.completion));
  }
  // The order within a save stays: the system state, then its users'.
  states.sort((a, b) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1));
  return { states, leftovers };
}

/** Every tree that states may have members in. */
export function treesOf({ machines, homes }: Layout): readonly Tree[] {
  const systems = machines.flatMap(({ heads }) => heads.flatMap(({ system, boots }) => [system, ...boots]));
  return [...systems, ...homes.flatMap(({ heads }) => heads)];
}

function savesOf(found: ReadonlyMap<string, Properties>): Save[] {
  const outlines = new Map<string, Outline>();
  const roots = new Map<string, Map<string, Root>>();
  for (const [name, properties] of found) {
    const outline = recordOf<Outline>('croft:state', properties);
    if (outline === undefined) continue;
    outlines.set(outline.id, outline);
    const note = (json(properties.get('croft:note')?.value ?? '') ?? {}) as Note;
    const root = { name, note, completion: completionOf(properties) };
    const its = roots.get(outline.id) ?? new Map<string, Root>();
    roots.set(outline.id, its.set(identityOf(properties), root));
  }
  return [...outlines].map(([id, outline]) => {
    const its = roots.get(id) ?? new Map<string, Root>();
    return { outline, roots: its, completion: decisive(its) };
  });
}

/** The mark of the first state decides, while its snapshot is there; without that what the others say of all. */
function decisive(roots: ReadonlyMap<string, Root>): Completion | undefined {
  const some = [...roots.values()].find(({ completion }) => completion !== undefined)?.completion;
  const lead = roots.get(some?.snapshots[0]?.guid ?? '');
  return lead === undefined ? some : lead.completion;
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
        unreadable: root === undefined ? 1 : 0,
        torn: 0,
      },
    ];
  });
}
