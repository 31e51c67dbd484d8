import type { Member, State } from '../../../model/model.ts';
import { exportedText } from '../../../rules/contents/exported-states.ts';
import type { SendRequest } from '../storage.ts';
import { type ListedTree, listTree } from './listed-tree.ts';
import { reportSome } from './report-some.ts';
import { sendStates } from './send-states.ts';

/** A folder that shows what a member holds, and what to do when it is no longer needed. */
export interface Shown {
  readonly path: string;
  close(): Promise<void>;
}

/** Sends states of a driver whose members are snapshots. Each is shown until the last byte is sent. */
export async function* sendSnapshots(
  driver: string,
  states: readonly State[],
  show: (member: Member) => Promise<Shown>,
  { signal, report }: SendRequest,
): AsyncGenerator<Uint8Array> {
  await using shown = new AsyncDisposableStack();
  const trees: ListedTree[] = [];
  const list = async (member: Member): Promise<Member> => {
    const view = await show(member);
    shown.defer(() => view.close());
    const tree = await listTree(Buffer.from(view.path).toString('latin1'), signal);
    trees.push(tree);
    reportSome(tree.problems, member, report);
    return { ...member, ...tree.counted, snapshot: tree.list };
  };
  const exported: State[] = [];
  for (const state of states) {
    const members: Member[] = [];
    for (const member of state.members) members.push(await list(member));
    exported.push({ ...state, members });
  }
  yield* sendStates(exportedText(driver, exported), trees, signal);
}
