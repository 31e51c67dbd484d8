import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { labelJson, labelSchema } from '../labels/label-json.ts';
import type { Links } from '../links.ts';
import { milestoneJson, milestoneSchema } from '../milestones/milestone-json.ts';
import type { ChangeCounts } from '../outside/git/reading/change-counts.ts';
import { pullRef } from '../outside/git/refs.ts';
import { mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { isMergeable, isWorkInProgress, type MergeOutlook } from '../rules/pulls/mergeable.ts';
import type { UserRow } from '../store/people/users.ts';
import type { PullCard } from '../store/pulls/pulls.ts';
import { teamJson, teamSchema } from '../teams/team-json.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime, wireTimeOrNull } from '../wire-time.ts';

const branchSchema = z.object({
  label: z.string(),
  ref: z.string(),
  sha: z.string(),
  repo_id: z.int(),
  repo: repositorySchema,
});

/** A pull request on the wire. */
export const pullSchema = z.object({
  id: z.int(),
  url: z.string(),
  number: z.int(),
  user: userSchema,
  title: z.string(),
  body: z.string(),
  labels: z.array(labelSchema),
  milestone: milestoneSchema.nullable(),
  assignee: userSchema.nullable(),
  assignees: z.array(userSchema),
  requested_reviewers: z.array(userSchema),
  requested_reviewers_teams: z.array(teamSchema),
  state: z.enum(['open', 'closed']),
  draft: z.boolean(),
  is_locked: z.boolean(),
  comments: z.int(),
  html_url: z.string(),
  diff_url: z.string(),
  patch_url: z.string(),
  additions: z.int().optional(),
  deletions: z.int().optional(),
  review_comments: z.int().describe('on lines'),
  changed_files: z.int().optional().describe('missing where counting took too long'),
  mergeable: z.boolean(),
  conflicted_files: z.array(z.string()).describe('files over which merging would fail'),
  merged: z.boolean(),
  merged_at: timeSchema.nullable(),
  merge_commit_sha: z.string().nullable(),
  merged_by: userSchema.nullable(),
  allow_maintainer_edit: z.boolean(),
  flow: z.int().describe('0 from a branch, 1 pushed for review'),
  base: branchSchema,
  head: branchSchema.extend({ repo: repositorySchema.nullable() }),
  merge_base: z.string(),
  due_date: timeSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  closed_at: timeSchema.nullable(),
  pin_order: z.int(),
  content_version: z.int(),
});

/** What stands around a pull request. */
export interface PullSurroundings {
  found: VisibleRepository;
  /** The same as answers tell it. */
  repo: z.output<typeof repositorySchema>;
  poster: UserRow;
  merger: UserRow | undefined;
  assignees: readonly UserRow[];
  /** Asked for a review. */
  reviewers: readonly UserRow[];
  /** Repository of the head; undefined when it is deleted, or the viewer may not know of it. */
  headRepo: z.output<typeof repositorySchema> | undefined;
  /** Where the branches are now; undefined for those that are gone. */
  baseTip: string | undefined;
  headTip: string | undefined;
  /** Undefined when the base branch is gone, and for merged pull requests, which have no outlook but a past. */
  outlook: MergeOutlook | undefined;
  /** Undefined when counting took too long. */
  counts: ChangeCounts | undefined;
}

/** In place of the id of a repository that is deleted. */
const NO_REPOSITORY = -1;

/** A pull request as its viewer gets it. */
export function pullJson(
  row: PullCard,
  around: PullSurroundings,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof pullSchema> {
  const { found, repo, headRepo, baseTip, headTip, outlook } = around;
  const { repository, owner } = found;
  // Hooks see all that the owner does, and lead wherever administrators say.
  const owns = viewer !== undefined && found.permission.level === 'owner';
  const merged = row.merged_at !== null;
  const page = `${links.repository(owner.login, repository.name)}/pulls/${row.number}`;
  const assignees = around.assignees.map((user) => userJson(user, viewer, links));
  return {
    id: row.id,
    // The page, not the address in the API: so does the reference.
    url: page,
    number: row.number,
    user: userJson(around.poster, viewer, links),
    title: row.title,
    body: row.body,
    labels: row.labels.map((label) => labelJson(label, { owner: owner.login, repo: repository.name }, links)),
    milestone: row.milestone && milestoneJson(row.milestone),
    assignee: assignees[0] ?? null,
    assignees,
    requested_reviewers: around.reviewers.map((user) => userJson(user, viewer, links)),
    // Teams are for their organization, and private ones not for all of it: who owns the repository may know of them.
    requested_reviewers_teams: row.reviewer_teams
      .filter((team) => owns || (found.isMember && team.visibility !== 'private'))
      .map((team) => teamJson(team, owner, viewer, links)),
    state: row.closed_at === null ? 'open' : 'closed',
    draft: isWorkInProgress(row.title),
    is_locked: row.locked_at !== null,
    comments: row.comments,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    review_comments: row.review_comments,
    ...countsJson(around.counts),
    mergeable: merged ? !isWorkInProgress(row.title) : isMergeable(row.title, outlook),
    // Names of files are code.
    conflicted_files: mayRead(found, 'code') ? [...(outlook?.conflicts ?? [])] : [],
    merged,
    merged_at: wireTimeOrNull(row.merged_at),
    merge_commit_sha: row.merge_commit_sha,
    merged_by: around.merger === undefined ? null : userJson(around.merger, viewer, links),
    allow_maintainer_edit: row.allow_maintainer_edit,
    flow: row.topic === null ? 0 : 1,
    base: { label: row.base_branch, ref: row.base_branch, sha: baseTip ?? '', repo_id: repository.id, repo },
    head: {
      label: row.topic === null ? row.head_branch : '',
      ref: headTip === undefined ? pullRef(row.number) : row.head_branch,
      sha: headTip ?? row.head_sha,
      repo_id: headRepo?.id ?? NO_REPOSITORY,
      repo: headRepo ?? null,
    },
    // Frozen when merged; with unrelated histories there is none, and the base stands in.
    merge_base: row.merge_base ?? outlook?.mergeBase ?? baseTip ?? '',
    due_date: wireTimeOrNull(row.deadline_at),
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    closed_at: wireTimeOrNull(row.closed_at),
    pin_order: row.pin_order,
    content_version: row.content_version,
  };
}

function countsJson(counts: ChangeCounts | undefined) {
  if (counts === undefined) return {};
  return { additions: counts.additions, deletions: counts.deletions, changed_files: counts.files };
}
