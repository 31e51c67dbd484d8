import { z } from 'zod';
import type { BranchProtectionRow } from '../store/repositories/branch-protections.ts';
import { optional, timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';
import type { ProtectionOptions } from './protection-options.ts';

/** Options that are yes or no. */
const SWITCHES = [
  'enable_push',
  'enable_push_whitelist',
  'push_whitelist_deploy_keys',
  'enable_force_push',
  'enable_force_push_allowlist',
  'force_push_allowlist_deploy_keys',
  'enable_merge_whitelist',
  'enable_bypass_allowlist',
  'enable_status_check',
  'enable_approvals_whitelist',
  'block_on_rejected_reviews',
  'block_on_official_review_requests',
  'block_on_outdated_branch',
  'dismiss_stale_approvals',
  'ignore_stale_approvals',
  'require_signed_commits',
  'block_admin_merge_override',
  'enable_merge_queue',
] as const;

/** Options that list people, by their logins on the wire. */
export const PEOPLE = [
  'push_whitelist_usernames',
  'force_push_allowlist_usernames',
  'merge_whitelist_usernames',
  'bypass_allowlist_usernames',
  'approvals_whitelist_username',
] as const;

/** Options that list teams, by their names on the wire. */
export const TEAMS = [
  'push_whitelist_teams',
  'force_push_allowlist_teams',
  'merge_whitelist_teams',
  'bypass_allowlist_teams',
  'approvals_whitelist_teams',
] as const;

/** Options that are numbers. */
const NUMBERS = ['required_approvals', 'merge_queue_batch', 'merge_queue_timeout_minutes'] as const;

const PATTERNS = ['protected_file_patterns', 'unprotected_file_patterns'] as const;

type Switch = (typeof SWITCHES)[number];
type Listing = (typeof PEOPLE)[number] | (typeof TEAMS)[number];
type Pattern = (typeof PATTERNS)[number];
type Amount = (typeof NUMBERS)[number];

function each<Name extends string, Value>(names: readonly Name[], value: Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>;
}

/** What a request may say of a protection. */
export const protectionFields = {
  ...each(SWITCHES, optional.boolean),
  ...each([...PEOPLE, ...TEAMS], optional.texts),
  ...each(PATTERNS, optional.text),
  status_check_contexts: optional.texts,
  ...each(NUMBERS, optional.integer),
  priority: z.int32().nullish(),
};

/** The same, read. */
export type ProtectionWish = Partial<
  Record<Switch, boolean | null | undefined> &
    Record<Listing | 'status_check_contexts', readonly string[] | null | undefined> &
    Record<Pattern, string | null | undefined> &
    Record<Amount | 'priority', number | null | undefined>
>;

/** A protection that says nothing yet: nobody pushes, whoever may write merges. */
export const NO_OPTIONS: ProtectionOptions = {
  ...each(SWITCHES, false),
  ...each([...PEOPLE, ...TEAMS], []),
  ...each(PATTERNS, ''),
  status_check_contexts: [],
  required_approvals: 0,
  merge_queue_batch: 5,
  merge_queue_timeout_minutes: 60,
};

/** Names of the options whose values come over as they are. */
export const PLAIN = [...SWITCHES, ...PATTERNS, 'status_check_contexts', ...NUMBERS] as const;

/** A protection on the wire. */
export const protectionSchema = z.object({
  id: z.int().describe('for `branch_protections/priority`'),
  rule_name: z.string(),
  branch_name: z.string(),
  priority: z.int(),
  ...each(SWITCHES, z.boolean()),
  ...each([...PEOPLE, ...TEAMS], z.array(z.string())),
  ...each(PATTERNS, z.string()),
  status_check_contexts: z.array(z.string()),
  ...each(NUMBERS, z.int()),
  created_at: timeSchema,
  updated_at: timeSchema,
});

/** Names of the people and teams that protections list; whoever is gone has none and is left out. */
export interface ListedNames {
  people: ReadonlyMap<number, string>;
  teams: ReadonlyMap<number, string>;
}

/** A protection with names in place of ids. */
export function protectionJson(
  row: BranchProtectionRow,
  names: ListedNames,
): z.output<typeof protectionSchema> {
  // Rows of long ago may lack an option that came later.
  const options = { ...NO_OPTIONS, ...row.options };
  const named = (ids: readonly number[], from: ReadonlyMap<number, string>) =>
    ids.flatMap((id) => from.get(id) ?? []);
  const people = Object.fromEntries(PEOPLE.map((key) => [key, named(options[key], names.people)]));
  const teams = Object.fromEntries(TEAMS.map((key) => [key, named(options[key], names.teams)]));
  return {
    ...options,
    id: row.id,
    ...(people as Record<(typeof PEOPLE)[number], string[]>),
    ...(teams as Record<(typeof TEAMS)[number], string[]>),
    status_check_contexts: [...options.status_check_contexts],
    rule_name: row.rule_name,
    branch_name: row.rule_name,
    priority: row.priority,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
  };
}
