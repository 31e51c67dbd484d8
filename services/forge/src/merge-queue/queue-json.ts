import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { Verdict } from '../rules/pulls/merge-queue.ts';
import type { UserRow } from '../store/people/users.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime, wireTimeOrNull } from '../wire-time.ts';
import { queueRef } from './queue-terms.ts';

/** A pull request in a merge queue on the wire. */
export const queueEntrySchema = z.object({
  position: z.int().describe('1 is merged next'),
  number: z.int(),
  title: z.string(),
  html_url: z.string(),
  state: z
    .enum(['waiting', 'testing', 'success', 'failure'])
    .describe('waiting has no merge yet; the others tell what the checks of its merge say'),
  do: z.string().describe('the style it is merged in'),
  queued_by: userSchema,
  queued_at: timeSchema,
  head_sha: z.string(),
  ref: z
    .string()
    .describe(
      'where its merge onto those before it can be fetched; empty until it is made, and where no check is required',
    ),
  sha: z.string().describe('that merge: statuses of it decide'),
  testing_since: timeSchema.nullable(),
});

/** A pull request in a merge queue as its viewer gets it. */
export function queueEntryJson(
  { row, pull }: QueueEntry,
  around: {
    position: number;
    queuedBy: UserRow;
    verdict: Verdict;
    isTested: boolean;
    place: { owner: string; repo: string };
  },
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof queueEntrySchema> {
  const { owner, repo } = around.place;
  return {
    position: around.position,
    number: pull.number,
    title: pull.title,
    html_url: `${links.repository(owner, repo)}/pulls/${pull.number}`,
    state: row.commit_sha === null ? 'waiting' : STATES[around.verdict],
    do: row.style,
    queued_by: userJson(around.queuedBy, viewer, links),
    queued_at: wireTime(row.queued_at),
    head_sha: row.head_sha,
    ref: row.commit_sha === null || !around.isTested ? '' : queueRef(row.base_branch, pull.number),
    sha: row.commit_sha ?? '',
    testing_since: wireTimeOrNull(row.made_at),
  };
}

const STATES = { green: 'success', red: 'failure', pending: 'testing' } as const;
