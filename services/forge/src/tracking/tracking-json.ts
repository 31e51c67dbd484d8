import { z } from 'zod';
import { issueSchema } from '../issues/issue-json.ts';
import { durationText } from '../rules/texts/duration-text.ts';
import type { UserRow } from '../store/people/users.ts';
import type { RunningStopwatch } from '../store/tracking/stopwatches.ts';
import type { TrackedTimeRow } from '../store/tracking/tracked-times.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** Time that somebody spent on an issue, on the wire. */
export const trackedTimeSchema = z.object({
  id: z.int(),
  created: timeSchema,
  time: z.int().describe('seconds'),
  user_id: z.int(),
  user_name: z.string(),
  issue_id: z.int(),
  issue: issueSchema.nullable(),
});

/** A tracked time; `issue` is null where the issue is what the time was asked of. */
export function trackedTimeJson(
  row: TrackedTimeRow,
  user: UserRow,
  issue: z.output<typeof issueSchema> | null,
): z.output<typeof trackedTimeSchema> {
  return {
    id: row.id,
    created: wireTime(row.created_at),
    time: row.seconds,
    user_id: user.id,
    user_name: user.login,
    issue_id: row.issue_id,
    issue,
  };
}

/** A running stopwatch on the wire. */
export const stopwatchSchema = z.object({
  created: timeSchema,
  seconds: z.int(),
  duration: z.string(),
  issue_index: z.int(),
  issue_title: z.string(),
  repo_owner_name: z.string(),
  repo_name: z.string(),
});

/** A stopwatch as it stands at `now`. */
export function stopwatchJson(row: RunningStopwatch, now: Date): z.output<typeof stopwatchSchema> {
  const seconds = Math.max(0, Math.floor((now.getTime() - row.started_at.getTime()) / 1000));
  return {
    created: wireTime(row.started_at),
    seconds,
    duration: durationText(seconds),
    issue_index: row.number,
    issue_title: row.title,
    repo_owner_name: row.owner_login,
    repo_name: row.repository_name,
  };
}
