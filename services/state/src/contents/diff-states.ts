import type { Call, Context } from '../context.ts';
import { nothingToCompare } from '../failures-extras.ts';
import type { Entry } from '../model/entry.ts';
import { datasetsOf, type Member, type State } from '../model/model.ts';
import type { EntryTree } from '../outside/storage/storage.ts';
import { type ContentVerdict, compareContent, compareEntries } from '../rules/contents/compare-entries.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkUserName } from '../rules/machines/user-data.ts';
import { nameState } from '../rules/states/find-state.ts';
import type { DiffChange, ExtraRequestOf, ExtraResultOf } from '../wire-extras.ts';
import { mergeEntries } from './merge-entries.ts';
import { whilePresent } from './while-present.ts';

/** A message is sent when it has about so much text; with names and numbers that stays below 64 KiB. */
const MESSAGE_CHARACTERS = 16 * 1024;
/** A path that is longer does not fit a message. */
const MAX_PATH_BYTES = 32 * 1024;

type Answer = ExtraResultOf<'Diff'>;

/** A dataset of both sides; where one has none there is nothing in it. */
interface Side {
  readonly dataset: string;
  readonly path: string;
  readonly one: EntryTree;
  readonly other: EntryTree;
}

/** What two states, or a state and what is there now, do not have in common. Nobody waits for it: a removal goes on. */
export async function diffStates(
  request: ExtraRequestOf<'Diff'>,
  call: Call,
  context: Context,
): Promise<AsyncIterable<Answer>> {
  const { userName, stateName, otherStateName } = request;
  if (userName !== '') checkUserName(userName);
  const named = (name: string) => nameState(context.index.model, { name, user: userName || undefined });
  const states = [named(stateName), ...(otherStateName === '' ? [] : [named(otherStateName)])] as const;
  return whilePresent(compare(states, request.times, call, context), states, context);
}

async function* compare(
  states: readonly [State, ...State[]],
  times: boolean,
  call: Call,
  context: Context,
): AsyncGenerator<Answer> {
  const total = { added: 0, changed: 0, removed: 0 };
  const count = {
    DIFF_KIND_ADDED: 'added',
    DIFF_KIND_CHANGED: 'changed',
    DIFF_KIND_REMOVED: 'removed',
  } as const;
  for (const side of await sidesOf(states, call, context)) {
    const { dataset, path } = side;
    let changes: DiffChange[] = [];
    let size = 0;
    for await (const change of changesOf(side, times, call.signal)) {
      total[count[change.kind]]++;
      const bytes = Buffer.byteLength(change.path);
      if (bytes > MAX_PATH_BYTES) {
        call.warning(`${path}/${change.path.slice(0, 100)}… is too long a path to be sent`);
        continue;
      }
      changes.push(change);
      size += bytes + 50;
      if (size < MESSAGE_CHARACTERS) continue;
      yield { changes: { dataset, path, changes } };
      [changes, size] = [[], 0];
    }
    if (changes.length > 0) yield { changes: { dataset, path, changes } };
  }
  yield { summary: total };
}

/** By name; a dataset that only one of two states has is all added or removed. */
async function sidesOf(
  states: readonly [State, ...State[]],
  call: Call,
  { index, storage }: Context,
): Promise<Side[]> {
  const [one, other] = states;
  const members = new Map(one.members.map((member) => [member.dataset, member]));
  const read = async (member: Member | undefined) =>
    member === undefined ? NOTHING : storage.savedTree(member);
  if (other !== undefined) {
    const others = new Map(other.members.map((member) => [member.dataset, member]));
    const names = [...new Set([...members.keys(), ...others.keys()])].sort();
    return Promise.all(
      names.map(async (dataset) => ({
        dataset,
        path: (others.get(dataset) ?? members.get(dataset))?.path ?? '',
        one: await read(members.get(dataset)),
        other: await read(others.get(dataset)),
      })),
    );
  }
  const present = datasetsOf(index.model, currentMachine(index.model)).filter(({ name, user }) => {
    const member = members.get(name);
    return member !== undefined && member.user === user;
  });
  for (const name of members.keys())
    if (!present.some((dataset) => dataset.name === name))
      call.warning(`${name} is no longer there and was left out`);
  if (present.length === 0) throw nothingToCompare(one.name);
  return Promise.all(
    present.map(async (dataset) => ({
      dataset: dataset.name,
      path: dataset.path,
      one: await read(members.get(dataset.name)),
      other: await storage.liveTree(dataset),
    })),
  );
}

const NOTHING: EntryTree = {
  async *entries() {},
  hash: async () => undefined,
};

async function* changesOf(side: Side, times: boolean, signal: AbortSignal): AsyncGenerator<DiffChange> {
  let attributes = false;
  for await (const { path, one, other } of mergeEntries(
    side.one.entries(signal),
    side.other.entries(signal),
  )) {
    signal.throwIfAborted();
    if (path === '.') attributes = one?.attributes !== undefined && other?.attributes !== undefined;
    if (one === undefined) yield { path, kind: 'DIFF_KIND_ADDED', type: (other as Entry).type };
    else if (other === undefined) yield { path, kind: 'DIFF_KIND_REMOVED', type: one.type };
    else {
      const content = await contentOf(side, one, other, signal);
      const difference = compareEntries(one, other, content, { times, attributes });
      if (difference !== undefined) yield { path, kind: 'DIFF_KIND_CHANGED', ...difference };
    }
  }
}

async function contentOf(
  side: Side,
  one: Entry,
  other: Entry,
  signal: AbortSignal,
): Promise<Exclude<ContentVerdict, 'read'>> {
  if (one.type !== other.type) return 'unknown';
  const verdict = compareContent(one, other);
  if (verdict !== 'read') return verdict;
  const hashes = [await side.one.hash(one, signal), await side.other.hash(other, signal)];
  if (hashes.includes(undefined)) return 'unknown';
  return hashes[0] === hashes[1] ? 'same' : 'changed';
}
