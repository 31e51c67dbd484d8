import { pushForReview, type ReviewOutcome } from '../agit/push-for-review.ts';
import type { PushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { branchOf, kindOf, type PushCommand } from '../rules/git/push-request.ts';
import type { PushRow } from '../store/repositories/pushes.ts';
import type { GitVisitor } from './admit-git.ts';
import { rulesNow } from './keep-rights.ts';
import { moveStaged } from './move-staged.ts';
import type { Verdict } from './plan-push.ts';
import type { PushReport } from './push-report.ts';
import type { PushRequest } from './read-push.ts';
import { removeStaged, STAGED } from './staged-refs.ts';

/** A push, decided. */
export interface Push {
  visitor: GitVisitor & { caller: Caller };
  request: PushRequest;
  /** By which it was decided. */
  rules: PushRules;
  isAtomic: boolean;
  verdicts: readonly Verdict[];
  row: PushRow;
  /** Of its pack. */
  maxBytes: number;
}

/**
 * Does what waited for the commits: moves refs, and sees to reviews.
 * @returns what became of each ref, under the client's names, and what there is to say to people besides
 */
export async function finishPush(
  context: Context,
  push: Push,
  report: PushReport,
): Promise<{ refs: PushReport['refs']; notes: string[] }> {
  const { visitor, verdicts, row } = push;
  const outcome = new Map<string, string | undefined>();
  const notes: string[] = [];
  try {
    for (const [ref, reason] of await moveArrived(context, push, report)) outcome.set(ref, reason);
    for (const [ref, done] of await pushReviews(context, push, report)) {
      outcome.set(ref, done.refusal);
      if (done.refusal === undefined) notes.push(done.note);
    }
  } finally {
    if (verdicts.some(({ kind }) => kind === 'stage' || kind === 'review'))
      await removeStaged(context.git, visitor.found.repository.id, `${STAGED}${row.id}/`);
  }
  const refs = verdicts.map((verdict, index): [string, string | undefined] => {
    const { ref } = verdict.command;
    if (verdict.kind === 'refuse') return [ref, verdict.reason];
    if (outcome.has(ref)) return [ref, outcome.get(ref)];
    const name = verdict.kind === 'pass' ? ref : stagedName(row, index);
    if (!report.refs.has(name)) return [ref, 'git ended before it was moved'];
    return [ref, report.refs.get(name) ?? (verdict.kind === 'pass' ? undefined : 'the push is incomplete')];
  });
  return { refs: new Map(refs), notes };
}

/** Moves the refs whose commits were to be looked at first. */
async function moveArrived(
  context: Context,
  { visitor, isAtomic, verdicts, row }: Push,
  report: PushReport,
): Promise<[string, string | undefined][]> {
  const staged = verdicts.flatMap(({ kind, command }, index) =>
    kind === 'stage' ? [{ command, name: stagedName(row, index) }] : [],
  );
  const arrived = staged.filter(({ command, name }) => {
    // A deletion brings nothing that could arrive.
    return kindOf(command) === 'delete' || hasArrived(report, name);
  });
  const complete = isAtomic ? arrived.length === staged.length : true;
  if (!complete || arrived.length === 0) return [];
  const commands = arrived.map(({ command }) => command);
  // Rights and protections may have changed while the commits came.
  const rules = await rulesNow(context, visitor);
  const isLent = ({ ref }: PushCommand) => rules?.lent?.has(branchOf(ref) ?? '') ?? true;
  if (rules === undefined || !commands.every(isLent)) return commands.map(({ ref }) => [ref, MAY_NOT_WRITE]);
  const reasons = await moveStaged(context, visitor.found.repository, commands, rules, isAtomic);
  return commands.map(({ ref }, index) => [ref, reasons[index]]);
}

/** Makes pull requests of commits that were pushed for review, one after the other. */
async function pushReviews(
  context: Context,
  { visitor, request, verdicts, row }: Push,
  report: PushReport,
): Promise<[string, ReviewOutcome][]> {
  const done: [string, ReviewOutcome][] = [];
  for (const [index, verdict] of verdicts.entries()) {
    const waitsAt = stagedName(row, index);
    // Without a report, the ref itself says whether they are here.
    const isHere = hasArrived(report, waitsAt) || !clientOf(request).wantsReport;
    if (verdict.kind !== 'review' || !isHere) continue;
    const { command, review } = verdict;
    const commit = { id: command.after, waitsAt };
    done.push([command.ref, await pushForReview(context, visitor, review, commit)]);
  }
  return done;
}

const MAY_NOT_WRITE = 'user should have a permission to write to a repo';

const hasArrived = ({ refs }: PushReport, name: string) => refs.has(name) && refs.get(name) === undefined;

const stagedName = (row: PushRow, index: number) => `${STAGED}${row.id}/${index}`;

/** The command git gets; none for what is refused, or done by ourselves. */
export function stagedCommand(verdict: Verdict, row: PushRow, index: number): PushCommand | undefined {
  const { kind, command } = verdict;
  if (kind === 'pass') return command;
  if (kind === 'refuse' || kindOf(command) === 'delete') return undefined;
  return { ref: stagedName(row, index), before: '0'.repeat(40), after: command.after };
}

/** What the client of a push understands. */
export function clientOf({ capabilities }: PushRequest): { sideband: boolean; wantsReport: boolean } {
  return {
    sideband: capabilities.has('side-band-64k'),
    wantsReport: capabilities.has('report-status') || capabilities.has('report-status-v2'),
  };
}
