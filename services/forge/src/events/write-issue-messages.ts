import type { Context } from '../context.ts';
import { presentIssues } from '../issues/present-issues.ts';
import { labelJson } from '../labels/label-json.ts';
import { presentPulls } from '../pulls/present-pulls.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import type { LabelCard } from '../store/issues/labels.ts';
import type { UserRow } from '../store/people/users.ts';
import * as users from '../store/people/users.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { userJson } from '../users/user-json.ts';
import type { IssueEvent } from './announce.ts';
import type { HookMessage } from './write-messages.ts';

/** The issue or pull request that something happened to. */
export interface Subject {
  found: VisibleRepository;
  issue: IssueWithPull;
  /** Its poster and assignees, as far as they are still there. */
  people: readonly UserRow[];
  repository: object;
  sender: object;
}

/** What hooks are told of an issue or a pull request. */
export async function writeIssueMessages(
  context: Context,
  event: IssueEvent,
  subject: Subject,
  type: HookEventType,
): Promise<HookMessage[]> {
  const { issue, repository, sender } = subject;
  const about = {
    action: event.action,
    number: issue.number,
    ...changesOf(context, event, subject),
  };
  const commit = { commit_id: event.commitId ?? '' };
  if (!issue.is_pull) {
    const json = await presentIssueOf(context, subject);
    return [{ type, payload: { ...about, issue: json, repository, sender, ...commit } }];
  }
  const pull = await presentPullOf(context, subject);
  const payload = {
    ...about,
    pull_request: pull,
    requested_reviewer: await presentReviewer(context, event),
    repository,
    sender,
    ...commit,
    review: null,
    ...event.head,
  };
  return [{ type, payload }];
}

function changesOf({ links }: Context, { changes, labels }: IssueEvent, { found, issue }: Subject): object {
  if (labels === undefined) return changes === undefined ? {} : { changes };
  const names = { owner: found.owner.login, repo: found.repository.name };
  const spell = (label: LabelCard) => labelJson(label, names, links);
  const added = issue.labels.filter(({ id }) => labels.added.includes(id));
  return { changes: { added_labels: added.map(spell), removed_labels: labels.removed.map(spell) } };
}

/** An issue as nobody in particular sees it. */
export async function presentIssueOf(
  context: Context,
  { found, issue, people }: Subject,
): Promise<object | undefined> {
  return (await presentIssues(context, undefined, found, [issue], people))[0];
}

/** A pull request as nobody in particular sees it. */
export async function presentPullOf(context: Context, { found, issue }: Subject): Promise<object | null> {
  const tx = context.database.autocommit();
  const row = await pulls.findByNumber(tx, issue.repository_id, issue.number);
  return (row && (await presentPulls(context, undefined, found, [row]))[0]) ?? null;
}

/** Who is asked for a review; null for a team. */
async function presentReviewer({ database, links }: Context, { asked }: IssueEvent): Promise<object | null> {
  const id = asked?.reviewerId ?? null;
  if (id === null) return null;
  const people = await users.mapByIds(database.autocommit(), [id]);
  return userJson(people.get(id) ?? users.GHOST, undefined, links);
}
