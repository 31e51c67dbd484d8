import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import { includes } from '../rules/access/permission.ts';
import { teamSchema } from '../teams/team-json.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';
import { mayRead, type VisibleRepository } from './find-repository.ts';

/** What an answer says of a repository besides the one it was forked from. */
const ownMembers = z.object({
  id: z.int(),
  owner: userSchema,
  name: z.string(),
  full_name: z.string(),
  description: z.string(),
  empty: z.boolean(),
  private: z.boolean(),
  fork: z.boolean(),
  template: z.boolean(),
  mirror: z.boolean(),
  size: z.int(),
  language: z.string(),
  languages_url: z.string(),
  html_url: z.string(),
  url: z.string(),
  link: z.string(),
  ssh_url: z.string(),
  clone_url: z.string(),
  original_url: z.string(),
  website: z.string(),
  stars_count: z.int(),
  forks_count: z.int(),
  watchers_count: z.int(),
  open_issues_count: z.int(),
  open_pr_counter: z.int(),
  branch_count: z.int(),
  release_counter: z.int(),
  default_branch: z.string(),
  archived: z.boolean(),
  created_at: timeSchema,
  updated_at: timeSchema,
  archived_at: timeSchema,
  permissions: z.object({ admin: z.boolean(), push: z.boolean(), pull: z.boolean() }),
  has_code: z.boolean(),
  has_issues: z.boolean(),
  internal_tracker: z
    .object({
      enable_time_tracker: z.boolean(),
      allow_only_contributors_to_track_time: z.boolean(),
      enable_issue_dependencies: z.boolean(),
    })
    .optional()
    .describe('where there are issues'),
  has_wiki: z.boolean(),
  has_pull_requests: z.boolean(),
  has_projects: z.boolean(),
  projects_mode: z.string(),
  has_releases: z.boolean(),
  has_packages: z.boolean(),
  has_actions: z.boolean(),
  ignore_whitespace_conflicts: z.boolean(),
  allow_merge_commits: z.boolean(),
  allow_rebase: z.boolean(),
  allow_rebase_explicit: z.boolean(),
  allow_squash_merge: z.boolean(),
  allow_fast_forward_only_merge: z.boolean(),
  allow_manual_merge: z.boolean(),
  autodetect_manual_merge: z.boolean(),
  allow_merge_update: z.boolean(),
  allow_rebase_update: z.boolean(),
  default_delete_branch_after_merge: z.boolean(),
  default_allow_maintainer_edit: z.boolean(),
  default_merge_style: z.string(),
  default_update_style: z.string(),
  avatar_url: z.string(),
  internal: z.boolean(),
  mirror_interval: z.string(),
  object_format_name: z.string(),
  mirror_updated: timeSchema,
  mirror_last_sync_at: timeSchema,
  topics: z.array(z.string()),
  licenses: z.array(z.string()),
});

/** A repository on the wire, with its parent, whose own parent is not told; members of features that do not exist say so. */
export const repositorySchema = ownMembers.extend({
  parent: ownMembers.extend({ parent: z.null(), repo_transfer: z.null() }).nullable(),
  repo_transfer: z.object({ doer: userSchema, recipient: userSchema, teams: z.array(teamSchema) }).nullable(),
});

/** What stands around a repository in answers that name it fully. */
export interface RepositorySurroundings {
  /** What it was forked from, if the viewer may know of that. */
  parent?: VisibleRepository | undefined;
  /** Who wants to give it to whom, if the viewer may know of that. */
  transfer?: z.output<typeof repositorySchema>['repo_transfer'] | false | undefined;
}

/** A repository as its viewer may see it. */
export function repositoryJson(
  found: VisibleRepository,
  viewer: Caller | undefined,
  links: Links,
  { parent, transfer }: RepositorySurroundings = {},
): z.output<typeof repositorySchema> {
  const shownParent =
    parent === undefined ? null : { ...ownJson(parent, viewer, links), parent: null, repo_transfer: null };
  return { ...ownJson(found, viewer, links), parent: shownParent, repo_transfer: transfer || null };
}

function ownJson(
  found: VisibleRepository,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof ownMembers> {
  const { repository: row, owner, permission } = found;
  const { code, issues, pulls } = whatIsIn(found);
  const page = links.repository(owner.login, row.name);
  const address = links.api(`/repos/${owner.login}/${row.name}`);
  return {
    id: row.id,
    owner: userJson(owner, viewer, links),
    name: row.name,
    full_name: `${owner.login}/${row.name}`,
    description: row.description,
    empty: row.empty,
    private: row.private,
    fork: row.fork_of !== null,
    template: row.template,
    mirror: false,
    size: code.size,
    language: code.language,
    languages_url: `${address}/languages`,
    html_url: page,
    url: address,
    link: '',
    // There is no SSH server to name.
    ssh_url: '',
    clone_url: `${page}.git`,
    original_url: '',
    website: row.website,
    stars_count: row.stars,
    forks_count: row.forks,
    watchers_count: row.watchers,
    open_issues_count: issues.open,
    open_pr_counter: pulls.open,
    branch_count: code.branches,
    release_counter: code.releases,
    default_branch: row.default_branch,
    archived: row.archived,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    archived_at: row.archived_at === null ? NO_TIME : wireTime(row.archived_at),
    permissions: {
      admin: includes(permission.level, 'admin'),
      push: includes(permission.units.code, 'write'),
      pull: includes(permission.level, 'read'),
    },
    has_code: true,
    has_issues: row.has_issues,
    ...(row.has_issues ? { internal_tracker: trackerJson(row) } : {}),
    has_wiki: false,
    has_pull_requests: row.has_pulls,
    has_projects: false,
    projects_mode: 'all',
    has_releases: row.has_releases,
    has_packages: false,
    has_actions: false,
    ignore_whitespace_conflicts: false,
    allow_merge_commits: row.has_pulls && row.allow_merge,
    allow_rebase: row.has_pulls && row.allow_rebase,
    allow_rebase_explicit: row.has_pulls && row.allow_rebase_explicit,
    allow_squash_merge: row.has_pulls && row.allow_squash,
    allow_fast_forward_only_merge: row.has_pulls && row.allow_fast_forward_only,
    allow_manual_merge: row.has_pulls && row.allow_manual_merge,
    autodetect_manual_merge: false,
    allow_merge_update: row.has_pulls && row.allow_merge_update,
    allow_rebase_update: row.has_pulls && row.allow_rebase_update,
    default_delete_branch_after_merge: row.delete_branch_after_merge,
    default_allow_maintainer_edit: row.default_maintainer_edit,
    default_merge_style: row.default_merge_style,
    default_update_style: row.default_update_style,
    avatar_url: '',
    internal: !row.private && owner.visibility === 'private',
    mirror_interval: '',
    object_format_name: 'sha1',
    mirror_updated: NO_TIME,
    mirror_last_sync_at: NO_TIME,
    topics: row.topics,
    licenses: code.licenses,
  };
}

/** Counts and contents of units as their viewer may know of them: of one he may not read, as if there were nothing in it. */
function whatIsIn(found: VisibleRepository) {
  const { repository: row } = found;
  return {
    code: mayRead(found, 'code')
      ? {
          size: Math.ceil(row.size_bytes / 1024),
          language: row.language,
          licenses: row.licenses,
          // Not counted yet is shown as none.
          branches: row.branches ?? 0,
          releases: row.has_releases ? row.releases : 0,
        }
      : { size: 0, language: '', licenses: [], branches: 0, releases: 0 },
    issues: { open: mayRead(found, 'issues') ? row.issues - row.closed_issues : 0 },
    pulls: { open: mayRead(found, 'pulls') ? row.pulls - row.closed_pulls : 0 },
  };
}

function trackerJson(row: VisibleRepository['repository']) {
  return {
    enable_time_tracker: row.tracks_time,
    allow_only_contributors_to_track_time: row.only_contributors_track_time,
    enable_issue_dependencies: row.has_dependencies,
  };
}
