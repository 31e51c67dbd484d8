import { z } from 'zod';
import {
  addressesOf,
  commitMetaSchema,
  commitUserJson,
  commitUserSchema,
  verificationJson,
  verificationSchema,
} from '../commits/commit-json.ts';
import type { Links } from '../links.ts';
import type { CommitData, TagData } from '../outside/git/reading/parse-commit.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { wireTime } from '../wire-time.ts';

/** A tag on the wire. */
export const tagSchema = z.object({
  name: z.string(),
  message: z.string(),
  id: z.string(),
  commit: commitMetaSchema,
  zipball_url: z.string(),
  tarball_url: z.string(),
});

/** An annotated tag, which is an object of its own. */
export const annotatedTagSchema = z.object({
  tag: z.string(),
  sha: z.string(),
  url: z.string(),
  message: z.string(),
  tagger: commitUserSchema.nullable(),
  object: z.object({ type: z.string(), sha: z.string(), url: z.string() }),
  verification: verificationSchema,
});

/** A tag: its own message, or that of its commit. */
export function tagJson(
  name: string,
  { commit, annotation }: { commit: CommitData; annotation: TagData | undefined },
  found: VisibleRepository,
  links: Links,
): z.output<typeof tagSchema> {
  const address = addressesOf(found, links);
  return {
    name,
    message: (annotation ?? commit).message.trimEnd(),
    id: (annotation ?? commit).id,
    commit: { url: address.commit(commit.id), sha: commit.id, created: wireTime(commit.committer.at) },
    zipball_url: address.archive(name, 'zip'),
    tarball_url: address.archive(name, 'tar.gz'),
  };
}

/** An annotated tag as an object. */
export function annotatedTagJson(
  tag: TagData,
  found: VisibleRepository,
  links: Links,
): z.output<typeof annotatedTagSchema> {
  const address = addressesOf(found, links);
  return {
    tag: tag.name,
    sha: tag.id,
    url: address.tag(tag.id),
    message: tag.message,
    tagger: tag.tagger === undefined ? null : commitUserJson(tag.tagger),
    object: { type: tag.type, sha: tag.object, url: address.api(`git/${tag.type}s/${tag.object}`) },
    verification: verificationJson(tag),
  };
}
