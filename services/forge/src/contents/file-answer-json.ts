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
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';
import type { FilesChanged } from './change-files.ts';
import { contentsJson, contentsSchema } from './contents-json.ts';

const changeSchema = {
  commit: commitMetaSchema.extend({
    html_url: z.string(),
    author: commitUserSchema,
    committer: commitUserSchema,
    parents: z.array(commitMetaSchema),
    message: z.string(),
    tree: commitMetaSchema,
  }),
  verification: verificationSchema,
};

/** A file that was written, null when it was deleted, and the commit that did it. */
export const fileAnswerSchema = z.object({ content: contentsSchema.nullable(), ...changeSchema });

/** The same for several files; deleted ones are null. */
export const filesAnswerSchema = z.object({ files: z.array(contentsSchema.nullable()), ...changeSchema });

/** The answer to changes of several files. */
export function filesAnswerJson(
  { found, branch, commit: object, files }: FilesChanged,
  links: Links,
): z.output<typeof filesAnswerSchema> {
  const content = object.bytes.subarray(object.bytes.indexOf(0) + 1);
  const commit = parseCommit({ id: object.id, type: 'commit', size: content.length, content });
  const address = addressesOf(found, links);
  const created = wireTime(commit.committer.at);
  const lastCommit = { id: commit.id, authored: commit.author.at, committed: commit.committer.at };
  const place = { found, at: { commit: commit.id, kind: 'branch' as const, name: branch }, links };
  return {
    files: files.map(({ path, entry, content: bytes, size }) =>
      entry === undefined
        ? null
        : contentsJson({ ...entry, path, type: 'blob', size }, { content: bytes, lastCommit }, place),
    ),
    commit: {
      url: address.commit(commit.id),
      sha: commit.id,
      created,
      html_url: address.page(`commit/${commit.id}`),
      author: commitUserJson(commit.author),
      committer: commitUserJson(commit.committer),
      parents: commit.parents.map((sha) => ({ url: address.commit(sha), sha, created: NO_TIME })),
      message: commit.message,
      tree: { url: address.tree(commit.tree), sha: commit.tree, created },
    },
    verification: verificationJson(commit),
  };
}

/** The answer to a change of one file. */
export function fileAnswerJson(changed: FilesChanged, links: Links): z.output<typeof fileAnswerSchema> {
  const { files, ...rest } = filesAnswerJson(changed, links);
  return { content: files[0] ?? null, ...rest };
}
