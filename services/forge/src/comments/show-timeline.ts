import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { presentAnywhere } from '../issues/present-issues.ts';
import { labelJson } from '../labels/label-json.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { milestoneJson } from '../milestones/milestone-json.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { type EntryDetails, readDetails } from '../rules/issues/timeline-details.ts';
import { readTimeRange } from '../rules/requests/read-time.ts';
import type { CommentSlice, CommentWithIssue } from '../store/issues/comments.ts';
import * as timeline from '../store/issues/timeline.ts';
import * as users from '../store/people/users.ts';
import * as attachments from '../store/tracking/attachments.ts';
import * as trackedTimes from '../store/tracking/tracked-times.ts';
import { teamJson } from '../teams/team-json.ts';
import { trackedTimeJson } from '../tracking/tracking-json.ts';
import { commentJson } from './comment-json.ts';
import type { CommentQuery } from './list-comments.ts';
import { timelineJson, type timelineSchema } from './timeline-json.ts';

/**
 * A page of everything that happened to an issue. However many entries there are and whatever they refer to, it takes
 * the same number of statements.
 */
export async function showTimeline(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: CommentQuery,
): Promise<ListPage> {
  const found = await findIssue(context, viewer, path);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const slice = await timeline.list(tx, found.issue.id, viewerOf(viewer), readTimeRange(query), {
    ...page,
    bytes: PART_BYTES,
  });
  const present = (part: CommentSlice) => presentEntries(context, viewer, found, part.rows);
  const load = (ids: readonly number[]) => timeline.listLeft(tx, ids, PART_BYTES);
  return { page, total: slice.total, items: await present(slice), rest: loadRest(slice, load, present) };
}

async function presentEntries(
  context: Context,
  viewer: Caller | undefined,
  { repository, owner }: VisibleRepository,
  rows: readonly CommentWithIssue[],
): Promise<z.output<typeof timelineSchema>[]> {
  const { links } = context;
  const entries = rows.map((row) => ({ row, details: readDetails(row.details) }));
  const named = await loadNamed(context, viewer, repository, entries);
  const names = { owner: owner.login, repo: repository.name };
  return entries.map(({ row, details }) => {
    const label = named.labels.get(details.label ?? 0);
    const milestone = named.milestones.get(details.milestone ?? 0);
    const oldMilestone = named.milestones.get(details.oldMilestone ?? 0);
    const time = named.times.get(details.trackedTime ?? 0);
    const { assignee } = details;
    const team = named.teams.get(details.assigneeTeam ?? 0);
    return timelineJson(
      row,
      {
        ...names,
        details,
        poster: named.person(row.poster_id),
        assignee: assignee === undefined ? undefined : named.person(assignee),
        label: label === undefined ? null : labelJson(label, names, links),
        milestone: milestone === undefined ? null : milestoneJson(milestone),
        old_milestone: oldMilestone === undefined ? null : milestoneJson(oldMilestone),
        tracked_time: time === undefined ? null : trackedTimeJson(time, named.person(time.user_id), null),
        ref_issue: named.issues.get(details.refIssue ?? 0) ?? null,
        ref_comment: named.comments.get(details.refComment ?? 0) ?? null,
        assignee_team: team === undefined ? null : teamJson(team, owner, viewer, links),
        dependent_issue: named.issues.get(details.dependentIssue ?? 0) ?? null,
      },
      viewer,
      links,
    );
  });
}

interface Entry {
  row: { poster_id: number | null };
  details: EntryDetails;
}

/** Loads what entries refer to: what is asked for nowhere is not asked for. */
async function loadNamed(
  context: Context,
  viewer: Caller | undefined,
  repository: timeline.TimelineHome,
  entries: readonly Entry[],
) {
  const { links } = context;
  const tx = context.database.autocommit();
  const reader = viewerOf(viewer);
  const idsOf = (pick: (details: EntryDetails) => readonly (number | undefined)[]): number[] => [
    ...new Set(entries.flatMap(({ details }) => pick(details)).filter((id) => id !== undefined)),
  ];
  const whenAny = async <Row>(ids: number[], load: (ids: number[]) => Promise<Row[]>): Promise<Row[]> =>
    ids.length === 0 ? [] : await load(ids);
  const [issueRows, commentRows, labels, milestones, times, teams] = await Promise.all([
    whenAny(
      idsOf((d) => [d.refIssue, d.dependentIssue]),
      (ids) => timeline.listReadableIssues(tx, ids, reader),
    ),
    whenAny(
      idsOf((d) => [d.refComment]),
      (ids) => timeline.listReadableComments(tx, ids, reader),
    ),
    whenAny(
      idsOf((d) => [d.label]),
      (ids) => timeline.listLabels(tx, repository, ids),
    ),
    whenAny(
      idsOf((d) => [d.milestone, d.oldMilestone]),
      (ids) => timeline.listMilestones(tx, repository.id, ids),
    ),
    whenAny(
      idsOf((d) => [d.trackedTime]),
      (ids) => trackedTimes.listByIds(tx, ids),
    ),
    whenAny(
      idsOf((d) => [d.assigneeTeam]),
      (ids) => timeline.listTeams(tx, repository, ids, reader),
    ),
  ]);
  const people = [
    ...entries.flatMap(({ row, details }) => [row.poster_id, details.assignee ?? null]),
    ...commentRows.map((row) => row.poster_id),
    ...times.map((row) => row.user_id),
  ];
  const [accounts, assets, issues] = await Promise.all([
    users.mapByIds(tx, [...new Set(people.filter((id) => id !== null))]),
    commentRows.length === 0
      ? undefined
      : attachments.mapByComments(
          tx,
          commentRows.map(({ id }) => id),
        ),
    issueRows.length === 0 ? [] : presentAnywhere(context, viewer, issueRows),
  ]);
  const person = (id: number | null) => (id !== null && accounts.get(id)) || users.GHOST;
  const comments = commentRows.map((row) => {
    const around = {
      owner: row.owner_login,
      repo: row.repository_name,
      poster: person(row.poster_id),
      assets: assets?.get(row.id) ?? [],
    };
    return commentJson(row, around, viewer, links);
  });
  return {
    person,
    labels: byId(labels),
    milestones: byId(milestones),
    times: byId(times),
    teams: byId(teams),
    issues: byId(issues),
    comments: byId(comments),
  };
}

const byId = <Row extends { id: number }>(rows: readonly Row[]) => new Map(rows.map((row) => [row.id, row]));
