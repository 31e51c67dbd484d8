import type { Context } from '../context.ts';
import { presentIssues } from '../issues/present-issues.ts';
import { presentPulls } from '../pulls/present-pulls.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import type { UserRow } from '../store/people/users.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { userJson } from '../users/user-json.ts';
import type { IssueEvent } from './announce.ts';
import type { HookMessage } from './write-messages.ts';

/** The issue or pull request that something happened to. */
export interface Subject {
  found: VisibleRepository;
  issue: IssueWithPull;
}

/** What hooks are told of an issue or a pull request. */
export async function writeIssueMessages(
  context: Context,
  event: IssueEvent,
  { found, issue }: Subject,
  actor: UserRow,
  type: HookEventType,
): Promise<HookMessage[]> {
  const repository = await presentRepository(context, undefined, found);
  const sender = userJson(actor, undefined, context.links);
  const about = {
    action: event.action,
    number: issue.number,
    ...(event.changes === undefined ? {} : { changes: event.changes }),
  };
  const commit = { commit_id: event.commitId ?? '' };
  if (!issue.is_pull) {
    const [json] = await presentIssues(context, undefined, found, [issue]);
    return [{ type, payload: { ...about, issue: json, repository, sender, ...commit } }];
  }
  const pull = await presentPullOf(context, { found, issue });
  const payload = {
    ...about,
    pull_request: pull,
    requested_reviewer: null,
    repository,
    sender,
    ...commit,
    review: null,
    ...event.head,
  };
  return [{ type, payload }];
}

/** A pull request as nobody in particular sees it. */
export async function presentPullOf(context: Context, { found, issue }: Subject): Promise<object | null> {
  const tx = context.database.autocommit();
  const row = await pulls.findByNumber(tx, issue.repository_id, issue.number);
  return (row && (await presentPulls(context, undefined, found, [row]))[0]) ?? null;
}
