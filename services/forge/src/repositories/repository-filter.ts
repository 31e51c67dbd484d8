/** Orders a list of repositories may have. */
export const REPOSITORY_SORTS = ['alpha', 'created', 'updated', 'size', 'stars', 'forks', 'id'] as const;

/** Which repositories a list shows; what is missing does not matter. */
export interface RepositoryFilter {
  /** Part of a name, of a topic, and if wanted of the description. */
  keyword?: string;
  inDescription?: boolean;
  /** The keyword is a whole topic instead. */
  isTopic?: boolean;
  ownerId?: number;
  /** With an owner: those that he has by his own right, those that others gave him, or both. */
  reach?: 'owned' | 'given' | 'both';
  forkOf?: number;
  teamId?: number;
  starredBy?: number;
  isPrivate?: boolean;
  isTemplate?: boolean;
  isArchived?: boolean;
  isFork?: boolean;
  /** Whose come first. */
  firstOwnerId?: number;
  sort: (typeof REPOSITORY_SORTS)[number];
  descending: boolean;
}
