import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { checkNotArchived, findRepository, mayWrite } from '../repositories/find-repository.ts';
import { deadlineOf } from '../rules/issues/deadline.ts';
import { checkTitle } from '../rules/issues/issue-edit.ts';
import { planLabels } from '../rules/issues/label.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import * as issues from '../store/issues/issues.ts';
import { eventsOfNew } from './events-of-new.ts';
import type { issueSchema } from './issue-json.ts';
import { presentIssues } from './present-issues.ts';
import { resolveWishes, type Wishes } from './resolve-wishes.ts';
import { entriesOfNew } from './timeline-entries.ts';

/** What the poster writes. */
export interface NewIssue extends Wishes {
  title: string;
  body: string;
  ref: string;
  deadline: string | undefined;
  closed: boolean;
}

/**
 * Creates an issue; whoever may read may do it. Labels, assignees, deadline and milestone count for writers only, what
 * others say of them is dropped.
 * @throws 404 for an unknown milestone, 422 for an assignee who is unknown or cannot be assigned, 423
 */
export async function createIssue(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewIssue,
): Promise<z.output<typeof issueSchema>> {
  const found = await findRepository(context, caller, path, 'issues');
  checkNotArchived(found);
  const { repository } = found;
  const title = checkTitle(wanted.title);
  const isWriter = mayWrite(found, 'issues');
  const wishes = await resolveWishes(context, repository, isWriter ? wanted : {});
  const { result: labels } = planLabels([], wishes.labels ?? [], 'replace');
  const createdWith = {
    milestoneId: wishes.milestone?.id ?? null,
    labelIds: labels.map(({ id }) => id),
    assigneeIds: (wishes.assignees ?? []).map(({ id }) => id),
    closed: wanted.closed,
  };
  const row = await context.database.transaction(async (tx) => {
    // Nothing blocks an issue that does not exist yet, so one that is made closed has no dependency to wait for.
    const made = await issues.insert(tx, {
      repositoryId: repository.id,
      isPull: false,
      posterId: caller.userId,
      title,
      body: checkText(wanted.body),
      ref: wanted.ref,
      deadlineAt: isWriter && wanted.deadline !== undefined ? deadlineOf(wanted.deadline) : undefined,
      ...createdWith,
      entries: entriesOfNew(createdWith),
    });
    if (made === undefined) throw notFound();
    await announce(tx, ...eventsOfNew(made, caller.userId, createdWith));
    return made;
  });
  // Rule 8: the refetched issue; of one that somebody deleted at once, what was made.
  const refetched = await issues.findByNumber(context.database.autocommit(), repository.id, row.number);
  const bare = { pull_id: null, merged_at: null, labels, milestone: null, assignee_ids: [], attachments: [] };
  const [json] = await presentIssues(
    context,
    caller,
    found,
    [refetched ?? { ...row, ...bare }],
    wishes.assignees,
  );
  if (json === undefined) throw notFound();
  return json;
}
