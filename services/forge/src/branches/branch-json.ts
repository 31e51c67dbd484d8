import { z } from 'zod';
import { addressesOf, verificationJson, verificationSchema } from '../commits/commit-json.ts';
import type { PeopleByAddress } from '../commits/match-people.ts';
import type { Links } from '../links.ts';
import type { CommitData, Stamp } from '../outside/git/reading/parse-commit.ts';
import type { SigningKey } from '../outside/signing-key.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { findProtection, mayMergeInto, type Pusher, refusePush } from '../rules/git/protection.ts';
import type { BranchProtectionRow } from '../store/repositories/branch-protections.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

const personSchema = z.object({ name: z.string(), email: z.string(), username: z.string() });

/** A commit as it stands in branches and in the payloads of events. */
export const payloadCommitSchema = z.object({
  id: z.string(),
  message: z.string(),
  url: z.string(),
  author: personSchema,
  committer: personSchema,
  verification: verificationSchema,
  timestamp: timeSchema,
  added: z.null(),
  removed: z.null(),
  modified: z.null(),
});

/** A branch on the wire. */
export const branchSchema = z.object({
  name: z.string(),
  commit: payloadCommitSchema.nullable(),
  protected: z.boolean(),
  required_approvals: z.int(),
  enable_status_check: z.boolean(),
  status_check_contexts: z.array(z.string()),
  user_can_push: z.boolean(),
  user_can_merge: z.boolean(),
  effective_branch_protection_name: z.string(),
});

/** What stands around branches of one repository. */
export interface BranchSurroundings {
  found: VisibleRepository;
  protections: readonly BranchProtectionRow[];
  /** The viewer as protections see him. */
  viewer: Pusher;
  people: PeopleByAddress;
  signingKey: SigningKey | undefined;
}

/** A branch as its viewer gets it; without a commit where that cannot be read. */
export function branchJson(
  name: string,
  commit: CommitData | undefined,
  around: BranchSurroundings,
  links: Links,
): z.output<typeof branchSchema> {
  const { found, protections, viewer } = around;
  const protection = findProtection(protections, name);
  const options = protection?.options;
  const active = !found.repository.archived;
  return {
    name,
    commit: commit === undefined ? null : payloadCommitJson(commit, around, links),
    protected: protection !== undefined,
    required_approvals: options?.required_approvals ?? 0,
    enable_status_check: options?.enable_status_check ?? false,
    status_check_contexts: [...(options?.status_check_contexts ?? [])],
    user_can_push:
      active && refusePush(protection, name, { kind: 'fast-forward', pusher: viewer }) === undefined,
    user_can_merge: active && mayMergeInto(protection, viewer),
    effective_branch_protection_name: protection?.rule_name ?? '',
  };
}

function payloadCommitJson(
  commit: CommitData,
  { found, people, signingKey }: BranchSurroundings,
  links: Links,
): z.output<typeof payloadCommitSchema> {
  const person = ({ name, email }: Stamp) => ({ name, email, username: people(email)?.login ?? '' });
  return {
    id: commit.id,
    message: commit.message,
    url: addressesOf(found, links).page(`commit/${commit.id}`),
    author: person(commit.author),
    committer: person(commit.committer),
    verification: verificationJson(commit, signingKey),
    timestamp: wireTime(commit.author.at),
    added: null,
    removed: null,
    modified: null,
  };
}
