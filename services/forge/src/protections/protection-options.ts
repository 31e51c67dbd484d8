/**
 * What a protection says, under the names the API gives it; lists of people and teams hold their ids, so that whoever
 * is renamed keeps his place.
 */
export interface ProtectionOptions {
  enable_push: boolean;
  enable_push_whitelist: boolean;
  push_whitelist_usernames: readonly number[];
  push_whitelist_teams: readonly number[];
  push_whitelist_deploy_keys: boolean;
  enable_force_push: boolean;
  enable_force_push_allowlist: boolean;
  force_push_allowlist_usernames: readonly number[];
  force_push_allowlist_teams: readonly number[];
  force_push_allowlist_deploy_keys: boolean;
  enable_merge_whitelist: boolean;
  merge_whitelist_usernames: readonly number[];
  merge_whitelist_teams: readonly number[];
  enable_bypass_allowlist: boolean;
  bypass_allowlist_usernames: readonly number[];
  bypass_allowlist_teams: readonly number[];
  enable_status_check: boolean;
  status_check_contexts: readonly string[];
  required_approvals: number;
  enable_approvals_whitelist: boolean;
  approvals_whitelist_username: readonly number[];
  approvals_whitelist_teams: readonly number[];
  block_on_rejected_reviews: boolean;
  block_on_official_review_requests: boolean;
  block_on_outdated_branch: boolean;
  dismiss_stale_approvals: boolean;
  ignore_stale_approvals: boolean;
  require_signed_commits: boolean;
  /** Globs, separated by `;`. */
  protected_file_patterns: string;
  unprotected_file_patterns: string;
  block_admin_merge_override: boolean;
  /** Whether merges into the branch wait in line and are tested one upon the other. */
  enable_merge_queue: boolean;
  /** How many are tested at once. */
  merge_queue_batch: number;
  merge_queue_timeout_minutes: number;
}

/** Whose approvals count: people, and members of teams. */
export interface Approvers {
  users: readonly number[];
  teams: readonly number[];
}
