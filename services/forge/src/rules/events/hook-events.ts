import { unacceptable } from '../../failures.ts';
import { branchOf, kindOf, type PushCommand, tagOf } from '../git/push-request.ts';

/** Events that hooks can be made for; each is what `X-Gitea-Event-Type` says of a delivery. */
const EVENT_TYPES = [
  'create',
  'delete',
  'fork',
  'push',
  'issues',
  'issue_assign',
  'issue_label',
  'issue_milestone',
  'issue_comment',
  'pull_request',
  'pull_request_assign',
  'pull_request_label',
  'pull_request_milestone',
  'pull_request_comment',
  'pull_request_review_approved',
  'pull_request_review_rejected',
  'pull_request_review_comment',
  'pull_request_sync',
  'pull_request_review_request',
  'wiki',
  'repository',
  'release',
  'package',
  'status',
  'workflow_run',
  'workflow_job',
] as const;

/** One of them. */
export type HookEventType = (typeof EVENT_TYPES)[number];

/**
 * The events a request asks for, with those they imply: `issues` and `pull_request` everything around them, unless it
 * says `…_only`. None are `push`. Clients of other versions name some that do not exist here.
 * @throws 422 where there is none of them
 */
export function readHookEvents(wanted: readonly string[]): HookEventType[] {
  const chosen = new Set<HookEventType>();
  for (const name of wanted.length === 0 ? ['push'] : wanted) {
    for (const type of eventsMeantBy(name)) chosen.add(type);
  }
  if (chosen.size === 0) throw unacceptable(`Invalid hook event: ${wanted.join(', ')}`);
  return EVENT_TYPES.filter((type) => chosen.has(type));
}

function eventsMeantBy(name: string): readonly HookEventType[] {
  switch (name) {
    case 'issues':
      return EVENT_TYPES.filter((type) => type.startsWith('issue'));
    case 'issues_only':
      return ['issues'];
    case 'pull_request':
      return EVENT_TYPES.filter((type) => type.startsWith('pull_request'));
    case 'pull_request_only':
      return ['pull_request'];
    case 'pull_request_review':
      return EVENT_TYPES.filter((type) => /^pull_request_review_(approved|rejected|comment)$/.test(type));
    default:
      return EVENT_TYPES.filter((type) => type === name);
  }
}

/** `X-Gitea-Event` of an event: the coarse name that receivers choose their code by. */
export function coarseEvent(type: HookEventType): string {
  if (type === 'issue_comment' || type === 'pull_request_comment') return 'issue_comment';
  if (type.startsWith('issue')) return 'issues';
  const review = /^pull_request_review_(approved|rejected|comment)$/.exec(type);
  if (review !== null) return `pull_request_${review[1]}`;
  return type.startsWith('pull_request') ? 'pull_request' : type;
}

/**
 * What hooks are told of a ref that moved. Of notes that is nothing: whoever notes what came of a build would be told to build
 * again. Refs that are no branches and tags either are those of merge queues.
 */
export function eventsOfMove(move: PushCommand): HookEventType[] {
  const { ref } = move;
  if (branchOf(ref) === undefined && tagOf(ref) === undefined)
    return ref.startsWith('refs/notes/') ? [] : ['push'];
  switch (kindOf(move)) {
    case 'create':
      return ['create', 'push'];
    case 'update':
      return ['push'];
    case 'delete':
      return ['delete', 'push'];
  }
}
