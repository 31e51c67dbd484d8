import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { CommitChanges } from '../outside/git/reading/changes.ts';
import type { CommitData, Stamp } from '../outside/git/reading/parse-commit.ts';
import type { SigningKey } from '../outside/signing-key.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';
import type { PeopleByAddress } from './match-people.ts';

/** A commit in a few words. */
export const commitMetaSchema = z.object({ url: z.string(), sha: z.string(), created: timeSchema });

/** Who did something, as the commit says it. */
export const commitUserSchema = z.object({ name: z.string(), email: z.string(), date: z.string() });

/** What is known of a signature. Only the forge's own key is kept, so no other is ever verified. */
export const verificationSchema = z.object({
  verified: z.boolean(),
  reason: z.string(),
  signature: z.string(),
  signer: z.object({ name: z.string(), email: z.string(), username: z.string() }).nullable(),
  payload: z.string(),
});

/** A commit on the wire. */
export const commitSchema = commitMetaSchema.extend({
  html_url: z.string(),
  commit: z.object({
    url: z.string(),
    author: commitUserSchema,
    committer: commitUserSchema,
    message: z.string(),
    tree: commitMetaSchema,
    verification: verificationSchema.nullable(),
  }),
  author: userSchema.nullable(),
  committer: userSchema.nullable(),
  parents: z.array(commitMetaSchema),
  files: z.array(z.object({ filename: z.string(), status: z.string() })).nullable(),
  stats: z.object({ total: z.int(), additions: z.int(), deletions: z.int() }).nullable(),
});

/** Which expensive parts of commits are wanted. */
export interface CommitParts {
  stat: boolean;
  files: boolean;
  verification: boolean;
}

/** What stands around a commit. */
export interface CommitSurroundings {
  found: VisibleRepository;
  people: PeopleByAddress;
  /** Undefined when they are not wanted, or took too long to count. */
  changes: CommitChanges | undefined;
  parts: CommitParts;
  signingKey: SigningKey | undefined;
}

/** A commit as its viewer gets it. */
export function commitJson(
  commit: CommitData,
  { found, people, changes, parts, signingKey }: CommitSurroundings,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof commitSchema> {
  const address = addressesOf(found, links);
  const person = ({ email }: Stamp) => {
    const account = people(email);
    return account === undefined ? null : userJson(account, viewer, links);
  };
  const url = address.commit(commit.id);
  const created = wireTime(commit.committer.at);
  return {
    url,
    sha: commit.id,
    created,
    html_url: address.page(`commit/${commit.id}`),
    commit: {
      url,
      author: commitUserJson(commit.author),
      committer: commitUserJson(commit.committer),
      message: commit.message,
      tree: { url: address.tree(commit.tree), sha: commit.tree, created },
      verification: parts.verification ? verificationJson(commit, signingKey) : null,
    },
    author: person(commit.author),
    committer: person(commit.committer),
    parents: commit.parents.map((sha) => ({ url: address.commit(sha), sha, created: NO_TIME })),
    files:
      changes && parts.files ? changes.files.map(({ path, status }) => ({ filename: path, status })) : null,
    stats: changes && parts.stat ? statsJson(changes) : null,
  };
}

function statsJson({ additions, deletions }: CommitChanges) {
  return { total: additions + deletions, additions, deletions };
}

/** Who did something and when, in the zone of the place. */
export function commitUserJson(stamp: Stamp): z.output<typeof commitUserSchema> {
  return { name: stamp.name, email: stamp.email, date: zonedTime(stamp) };
}

/**
 * A signature, and why it proves nothing, or who made it.
 * @param signingKey the forge's own, where commits may be signed with it
 */
export function verificationJson(
  { signature, payload }: { signature: string; payload: string },
  signingKey?: SigningKey,
): z.output<typeof verificationSchema> {
  if (signingKey?.made(signature, Buffer.from(payload))) {
    const signer = { name: 'Croft', email: '', username: '' };
    return {
      verified: true,
      reason: `${signer.name} / ${signingKey.fingerprint}`,
      signature,
      signer,
      payload,
    };
  }
  const reason = signature === '' ? 'gpg.error.not_signed_commit' : 'gpg.error.no_gpg_keys_found';
  return { verified: false, reason, signature, signer: null, payload };
}

/** Addresses of what is in a repository. */
export function addressesOf({ owner, repository }: VisibleRepository, links: Links) {
  const path = `${owner.login}/${repository.name}`;
  const api = (rest: string) => links.api(`/repos/${path}/${rest}`);
  return {
    api,
    page: (rest: string) => `${links.repository(owner.login, repository.name)}/${rest}`,
    commit: (sha: string) => api(`git/commits/${sha}`),
    tree: (sha: string) => api(`git/trees/${sha}`),
    blob: (sha: string) => api(`git/blobs/${sha}`),
    tag: (sha: string) => api(`git/tags/${sha}`),
    archive: (ref: string, format: string) => api(`archive/${inPath(ref)}.${format}`),
  };
}

/** A name with slashes as part of an address. */
export function inPath(name: string): string {
  // A name cut in the middle of a character could not be encoded.
  return name.toWellFormed().split('/').map(encodeURIComponent).join('/');
}

function zonedTime({ at, offsetMinutes }: Stamp): string {
  if (offsetMinutes === 0) return wireTime(at);
  const local = wireTime(new Date(at.getTime() + offsetMinutes * 60_000)).slice(0, -1);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const minutes = Math.abs(offsetMinutes);
  return `${local}${offsetMinutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
