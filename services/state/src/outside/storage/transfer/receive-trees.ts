import { mkdir } from 'node:fs/promises';
import { Failure } from '@croft/failure';
import { notEnoughSpace, storageRefused } from '../../../failures.ts';
import { badImport } from '../../../failures-extras.ts';
import type { Member, State } from '../../../model/model.ts';
import { diskFailure } from '../../../rules/machines/disk-failure.ts';
import { sizeText } from '../../../rules/machines/sizes.ts';
import type { Received, ReceiveRequest } from '../storage.ts';
import { Objects } from '../vault/content/objects.ts';
import { placeStaged } from '../vault/content/staging.ts';
import { errorCode } from '../vault/files.ts';
import { materialise } from '../vault/trees/materialise.ts';
import { makeFifos } from './make-fifos.ts';
import { StatesReceiver } from './receive-states.ts';
import type { Inventory } from './received-manifest.ts';
import { reportSome } from './report-some.ts';

/** Each becomes something of its own in the storage. */
const MAX_TREES = 1000;
/** What a file system takes for an entry besides its content, with its name. */
const ENTRY_BYTES = 1024;
/** Up to this length a file lies with its facts on btrfs, and copies of it share nothing. */
const INLINE_BYTES = 2048;

/** Where a driver makes trees of what comes in. All of it lies in one place that `discard` removes, and nobody else enters. */
export interface TreePlaces {
  /** The storage, for people. */
  readonly name: string;
  /** Copies of a file take no room of their own. */
  readonly sharesContent: boolean;
  /** Makes a folder for what came in and is not yet made into trees. */
  begin(): Promise<string>;
  /** Makes an empty folder for a member. @param at counts members */
  make(member: Member, at: number): Promise<string>;
  /**
   * Everything is filled: from now on nobody writes to it, it survives a crash, and what came in is needed no more.
   * @param states whose members were made, in this order
   */
  seal(states: readonly State[]): Promise<readonly State[]>;
}

/**
 * Takes in an archive of states and makes each of its members a tree of files. Nothing of what came in is taken for anything
 * before all of it is checked, and no program but this one reads it.
 * @throws INVALID_ARGUMENT, RESOURCE_EXHAUSTED
 */
export async function receiveTrees(request: ReceiveRequest, places: TreePlaces): Promise<Received> {
  try {
    return await receive(request, places);
  } catch (error) {
    const failure = diskFailure(error, places.name);
    if (failure instanceof Failure || errorCode(error) === undefined) throw failure;
    throw storageRefused(`${places.name} did not take it`, (error as Error).message);
  }
}

async function receive(request: ReceiveRequest, places: TreePlaces): Promise<Received> {
  const folder = await places.begin();
  const objects = new Objects(`${folder}/objects`);
  await mkdir(objects.folder, { mode: 0o700 });
  const receiver = new StatesReceiver(objects, `${folder}/staging`, request);
  const { driver, states } = await receiver.run();
  const members = states.flatMap((state) => state.members);
  if (members.length > MAX_TREES) throw badImport(`it has more than ${MAX_TREES} members`);
  checkRoom(receiver.inventory, repeated(members), request.budget, places);
  await placeStaged(objects, `${folder}/staging`);
  for (const [at, member] of members.entries()) {
    await request.checkSpace();
    await fill(folder, member, await places.make(member, at), request);
  }
  return { driver, states: await places.seal(states) };
}

async function fill(
  folder: string,
  { snapshot, path }: Member,
  target: string,
  { signal, report }: ReceiveRequest,
): Promise<void> {
  const { problems } = await materialise(folder, snapshot, target, { signal });
  signal.throwIfAborted();
  await makeFifos(new Objects(`${folder}/objects`).pathOf(snapshot), target);
  const told = problems.filter((line) => !line.endsWith(' is missing: a fifo is not made again'));
  reportSome(told, { path }, report);
}

/** Members that name a list which one before them names: each list is checked once, and is made for every one of them. */
function repeated(members: readonly Member[]): readonly Member[] {
  const seen = new Set<string>();
  return members.filter(({ snapshot }) => seen.size === seen.add(snapshot).size);
}

/** What came in is within the budget; one content may be that of very many files. */
function checkRoom(
  inventory: Inventory,
  again: readonly Member[],
  budget: number,
  { name, sharesContent }: TreePlaces,
): void {
  let needed = inventory.entries * ENTRY_BYTES;
  for (const { entries, bytes } of again) needed += entries * ENTRY_BYTES + bytes;
  for (const [hash, { files }] of inventory.wanted) {
    const stored = inventory.storedOf(hash);
    needed += stored + (sharesContent && stored > INLINE_BYTES ? 0 : stored * files);
  }
  if (needed > budget) throw notEnoughSpace(name, `${sizeText(budget)} above the reserve`, sizeText(needed));
}
