import { isUniqueViolation, type Tx } from '@croft/sql';
import { moveInTurn, type PlannedMoves } from '../branches/move-refs.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound, refExists, releaseExists } from '../failures.ts';
import { readRefIds, tagRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as releases from '../store/repositories/releases.ts';
import { planTag } from '../tags/plan-tag.ts';

/** What a release is to be. */
export interface WantedRelease {
  /** What it is now; undefined for a new one. */
  current: releases.ReleaseRow | undefined;
  fields: releases.ReleaseFields;
  draft: boolean;
  /** Of the tag, if it has to be made: with one it is annotated. */
  tagMessage: string;
}

/**
 * Writes a release, and makes the tag of one that is published if there is none; a tag that is there stays where it is. All of it
 * stands in the queue of branches, so that of two for one tag the second finds the first.
 *
 * What needs its tag made is a row first: a draft, in the transaction of the intent that makes the tag. Whatever ends the intent
 * publishes the draft when the tag came, and else takes it back, also at the start after a crash. So no tag is made for a
 * release that could not be written, and none is published without its tag. One that is published and gets a tag that has to be
 * made is a draft in between, for as long as that takes.
 * @param decide is asked in the turn, and once more when somebody was faster
 * @returns the release's id
 * @throws 404, 409 when the tag has another release, 422 also when its tag is to be made and is protected
 */
export async function saveRelease(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  decide: (tx: Tx) => Promise<WantedRelease>,
): Promise<number> {
  const { database, git } = context;
  const { id: repositoryId } = found.repository;
  const tx = database.autocommit();
  const saved = { id: 0, tag: '' };
  const prepare = async (): Promise<PlannedMoves<undefined>> => {
    const wanted = await decide(tx);
    const { current, fields, draft, tagMessage: message } = wanted;
    const { tag_name: name, target } = fields;
    saved.tag = name;
    const [refs, twin] = await Promise.all([
      readRefIds(git, repositoryId, [tagRef(name)]),
      releases.findByTag(tx, repositoryId, name),
    ]);
    if (twin !== undefined && twin.id !== current?.id) throw releaseExists(name);
    const place = { repositoryId, actorId: caller.userId };
    const isThere = draft || refs.size > 0;
    const move = isThere ? undefined : await planTag(context, found, caller, { name, message, target });
    return {
      moves: move === undefined ? [] : [move],
      result: undefined,
      async together(tx) {
        const publishedAt = isThere && !draft ? (current?.published_at ?? tx.now) : null;
        saved.id = await write(tx, wanted, { ...place, publishedAt });
        if (move !== undefined) return { publishes: { releaseId: saved.id, former: current ?? null } };
        if (draft) return {};
        const action = current?.published_at ? 'updated' : 'published';
        await announce(tx, { kind: 'release', action, releaseId: saved.id, ...place });
        return {};
      },
    };
  };
  await moveInTurn(context, repositoryId, caller.userId, prepare, () => refExists('tag', saved.tag));
  return saved.id;
}

async function write(
  tx: Tx,
  { current, fields }: WantedRelease,
  { repositoryId, actorId, publishedAt }: { repositoryId: number; actorId: number; publishedAt: Date | null },
): Promise<number> {
  if (current === undefined) {
    const row = await releases.insert(tx, { ...fields, repositoryId, authorId: actorId, publishedAt });
    if (row === undefined) throw releaseExists(fields.tag_name);
    return row.id;
  }
  try {
    const row = await releases.update(tx, current.id, { ...fields, publishedAt });
    if (row === undefined) throw notFound();
    return row.id;
  } catch (error) {
    if (isUniqueViolation(error, 'releases_key')) throw releaseExists(fields.tag_name);
    throw error;
  }
}
