import type { Context } from '../context.ts';
import { eventsOfMove, type HookEventType } from '../rules/events/hook-events.ts';
import * as users from '../store/people/users.ts';
import { userJson } from '../users/user-json.ts';
import type { Happening, IssueEvent } from './announce.ts';
import type { EventLoads } from './event-loads.ts';
import type { Place } from './place.ts';
import { writeCommentMessages } from './write-comment-messages.ts';
import { writeIssueMessages } from './write-issue-messages.ts';
import { writeRefMessages } from './write-ref-messages.ts';
import { writeReleaseMessages } from './write-release-messages.ts';
import { writeRepositoryMessages } from './write-repository-messages.ts';
import { writeReviewMessages } from './write-review-messages.ts';
import { writeStatusMessages } from './write-status-messages.ts';

/** What hooks are told; payloads as the reference's (reference A.3). */
export interface HookMessage {
  type: HookEventType;
  payload: object;
  /** The full name of the ref it is about, which hooks may be filtered by. */
  ref?: string;
}

const AROUND_ISSUES: Partial<
  Record<IssueEvent['action'], 'assign' | 'label' | 'milestone' | 'sync' | 'review_request'>
> = {
  assigned: 'assign',
  unassigned: 'assign',
  label_updated: 'label',
  label_cleared: 'label',
  milestoned: 'milestone',
  demilestoned: 'milestone',
  synchronized: 'sync',
  review_requested: 'review_request',
  review_request_removed: 'review_request',
};

/** What kinds of messages come of something that happened. */
export function eventTypesOf(happening: Happening, { issue }: Place): HookEventType[] {
  switch (happening.kind) {
    case 'issue': {
      const around = AROUND_ISSUES[happening.action];
      const isPull = happening.deleted?.isPull ?? issue?.is_pull;
      const whole = isPull ? 'pull_request' : 'issues';
      if (around === undefined) return [whole];
      if (around === 'sync' || around === 'review_request') return [`pull_request_${around}`];
      return [isPull ? `pull_request_${around}` : `issue_${around}`];
    }
    case 'comment':
      return [issue?.is_pull ? 'pull_request_comment' : 'issue_comment'];
    case 'review':
      return [`pull_request_review_${happening.verdict}`];
    case 'ref':
      return eventsOfMove(happening);
    case 'status':
      return ['status'];
    case 'release':
      return ['release'];
    case 'repository':
      return [happening.action === 'forked' ? 'fork' : 'repository'];
  }
}

/** Writes what hooks are told of something that happened, as things are after it. */
export async function writeMessages(
  context: Context,
  loads: EventLoads,
  happening: Happening,
  place: Place,
): Promise<HookMessage[]> {
  const { actorId } = happening;
  const actor = (await loads.account(actorId)) ?? users.GHOST;
  const sender = userJson(actor, undefined, context.links);
  const types = eventTypesOf(happening, place);
  const [type = 'push'] = types;
  const { found, issue } = place;
  if (happening.kind === 'repository')
    return await writeRepositoryMessages(context, loads, happening, place, sender, type);
  if (found === undefined) return [];
  const about = { repository: await loads.repositoryJson(found), sender };
  if (happening.kind === 'ref') return await writeRefMessages(context, happening, found, about);
  if (happening.kind === 'release') return await writeReleaseMessages(context, happening, found, about);
  if (happening.kind === 'status') return await writeStatusMessages(context, happening, found, about);
  if (happening.kind === 'issue' && happening.deleted !== undefined) {
    const { number, isPull, json } = happening.deleted;
    const payload = { action: 'deleted', number, [isPull ? 'pull_request' : 'issue']: json, ...about };
    return [{ type, payload: { ...payload, commit_id: '' } }];
  }
  if (issue === undefined) return [];
  const people = await Promise.all(
    [issue.poster_id ?? actorId, ...issue.assignee_ids].map((id) => loads.account(id)),
  );
  const subject = { found, issue, people: people.filter((one) => one !== undefined), ...about };
  if (happening.kind === 'review') return await writeReviewMessages(context, happening, subject, type);
  return happening.kind === 'issue'
    ? await writeIssueMessages(context, happening, subject, type)
    : await writeCommentMessages(context, happening, subject, type);
}
