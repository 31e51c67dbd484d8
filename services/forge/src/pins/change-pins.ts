import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findIssueToModerate } from '../locks/find-issue-to-moderate.ts';
import { MAX_PINNED, movePin } from '../rules/issues/pin-order.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as comments from '../store/issues/comments.ts';
import * as pins from '../store/issues/pins.ts';

/**
 * Pins an issue or pull request behind those that are pinned.
 * @throws 403 for others than writers and when enough are pinned, 404, 423
 */
export async function pinIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  await change(context, caller, path, (pinned, id) => {
    if (pinned.includes(id)) return undefined;
    if (pinned.length >= MAX_PINNED) throw forbidden(`at most ${MAX_PINNED} can be pinned`);
    return { order: [...pinned, id], kind: 'pin' };
  });
}

/** Takes the pin away; there need not be one. */
export async function unpinIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  await change(context, caller, path, (pinned, id) =>
    pinned.includes(id) ? { order: pinned.filter((one) => one !== id), kind: 'unpin' } : undefined,
  );
}

/**
 * Gives a pinned issue or pull request another place among the pinned.
 * @throws 403 for others than writers, 404 when it is not pinned, 422 for no place, 423
 */
export async function moveIssuePin(
  context: Context,
  caller: Caller,
  path: NumberedPath & { position: string },
): Promise<void> {
  const position = readId(path.position);
  await change(context, caller, path, (pinned, id) => {
    if (position < 1) throw unacceptable('[Position]: Min(1)');
    if (!pinned.includes(id)) throw notFound();
    return { order: movePin(pinned, id, position) };
  });
}

async function change(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  plan: (pinned: number[], id: number) => { order: number[]; kind?: 'pin' | 'unpin' } | undefined,
): Promise<void> {
  const { repository, issue } = await findIssueToModerate(context, caller, path);
  const board = { repositoryId: repository.id, isPull: issue.is_pull };
  await context.database.transaction(async (tx) => {
    const pinned = await pins.hold(tx, board, issue.id);
    if (pinned === undefined) throw notFound();
    const planned = plan(pinned, issue.id);
    if (planned === undefined) return;
    await pins.arrange(tx, board, planned.order);
    if (planned.kind === undefined) return;
    await comments.add(tx, { issueId: issue.id, kind: planned.kind, posterId: caller.userId });
  });
}
