import { enqueueAll, type Tx } from '@croft/sql';
import type { LabelCard } from '../store/issues/labels.ts';

/** What happened to an issue or a pull request; actions have the names the webhooks give them. */
export interface IssueEvent {
  kind: 'issue';
  action:
    | 'opened'
    | 'edited'
    | 'closed'
    | 'reopened'
    | 'assigned'
    | 'unassigned'
    | 'label_updated'
    | 'label_cleared'
    | 'milestoned'
    | 'demilestoned'
    | 'synchronized'
    | 'review_requested'
    | 'review_request_removed'
    | 'deleted';
  issueId: number;
  /** Who was or is no longer assigned: each is an event of its own. */
  assigneeId?: number;
  /** What was there before, of what an edit changed. */
  changes?: Readonly<Partial<Record<'title' | 'body' | 'ref', { from: string }>>>;
  /** Labels that came, by their ids, and those that went, of `label_updated` and `label_cleared`. */
  labels?: { added: readonly number[]; removed: readonly LabelCard[] };
  /** The base it had, of a pull request that got another one. */
  formerBase?: string;
  /** Commit whose message closed it. */
  commitId?: string;
  /** Who was asked for a review or is no longer: somebody, or a team. */
  asked?: { reviewerId: number | null; teamId: number | null };
  /** Where the head of a pull request was and is, of `synchronized`. */
  head?: { before: string; after: string };
  /** Of what was deleted, for there is no row to ask any more: as nobody in particular saw it. */
  deleted?: { number: number; isPull: boolean; json: object };
}

/** What happened to a comment that somebody wrote. */
export interface CommentEvent {
  kind: 'comment';
  action: 'created' | 'edited' | 'deleted';
  issueId: number;
  commentId: number;
  /** The body before an edit, or of what was deleted. */
  from?: string;
  /** Of what was deleted, for there is no row to ask any more; times as in JSON. */
  deleted?: { posterId: number | null; createdAt: Date | string; updatedAt: Date | string };
}

/** A review that was submitted, and what it came to. */
export interface ReviewEvent {
  kind: 'review';
  verdict: 'approved' | 'rejected' | 'comment';
  issueId: number;
  reviewId: number;
}

/** A branch or tag that moved, appeared or went; forty zeros stand for not being there. */
export interface RefEvent {
  kind: 'ref';
  ref: string;
  before: string;
  after: string;
  /** As in a push: what stands on it follows. */
  restacked?: boolean;
  /** As in a push: whose commits it brought; without it those of who moved it. */
  authorId?: number | null;
}

/** What happened to a repository as a whole. */
export interface RepositoryEvent {
  kind: 'repository';
  action: 'created' | 'deleted' | 'forked';
  /** The fork. */
  forkId?: number;
  /** Of what was deleted, for there is no row to ask any more. */
  deleted?: { ownerId: number; repository: object };
}

/** What somebody said of a commit. */
export interface StatusEvent {
  kind: 'status';
  statusId: number;
}

/** What happened to a release that is published. */
export interface ReleaseEvent {
  kind: 'release';
  action: 'published' | 'updated' | 'deleted';
  releaseId: number;
  /** Of what was deleted, for there is no row to ask any more: as nobody in particular saw it. */
  deleted?: object;
}

/** Something that others want to know of: webhooks and people who watch. */
export type ForgeEvent =
  | IssueEvent
  | CommentEvent
  | ReviewEvent
  | RefEvent
  | RepositoryEvent
  | StatusEvent
  | ReleaseEvent;

/** An event with where it happened and who did it. */
export type Happening = ForgeEvent & { repositoryId: number; actorId: number };

/** Topic of the outbox under which happenings wait. */
export const HAPPENING = 'happening';

/** Announces something in the transaction that does it: others are told exactly when that commits. */
export async function announce(tx: Tx, ...happenings: readonly Happening[]): Promise<void> {
  await announceAll(tx, happenings);
}

/** The same for as many as there are, in their order. */
export async function announceAll(tx: Tx, happenings: readonly Happening[]): Promise<void> {
  for (let start = 0; start < happenings.length; start += BATCH) {
    const batch = happenings.slice(start, start + BATCH);
    await enqueueAll(
      tx,
      HAPPENING,
      batch.map((payload) => ({ payload, lane: '' })),
    );
  }
}

/** Of which one statement writes so many. */
const BATCH = 1000;
