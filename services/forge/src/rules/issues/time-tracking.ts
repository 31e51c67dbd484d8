/** What decides about time tracking of a repository, by its columns. */
export interface TrackingSwitches {
  tracks_time: boolean;
  only_contributors_track_time: boolean;
}

/** What somebody is to an issue. */
export interface Worker {
  userId: number;
  isWriter: boolean;
}

/**
 * Whether somebody may note time on an issue. Contributors are writers, and of each issue who wrote it or is assigned
 * to it (reference: the internal tracker).
 */
export function decideTracking(
  switches: TrackingSwitches,
  { userId, isWriter }: Worker,
  issue: { poster_id: number | null; assignee_ids: readonly number[] },
): 'allowed' | 'off' | 'contributors only' {
  if (!switches.tracks_time) return 'off';
  const contributes = isWriter || issue.poster_id === userId || issue.assignee_ids.includes(userId);
  return contributes || !switches.only_contributors_track_time ? 'allowed' : 'contributors only';
}
