/** What schema and data folder say of one another. */
export interface Pair {
  /** Id of the folder as the schema has it. */
  inSchema: string | undefined;
  /** Id of the folder as it has it itself. */
  inFolder: string | undefined;
  /** Whether the schema has repositories. */
  hasRows: boolean;
  /** Whether the folder has repositories. */
  hasFolders: boolean;
}

/**
 * Decides whether a schema and a data folder belong together. A pair that has no ids yet, of an earlier version or just restored,
 * is taken as one unless one of them lacks the repositories that the other has.
 */
export function decidePair({
  inSchema,
  inFolder,
  hasRows,
  hasFolders,
}: Pair): 'paired' | 'adopt' | 'other folder' | 'other schema' {
  if (inSchema !== undefined) return inSchema === inFolder ? 'paired' : 'other folder';
  if (inFolder === undefined) return hasRows && !hasFolders ? 'other folder' : 'adopt';
  // Its repositories would stand in the way of new ones, which are numbered from 1.
  return hasFolders && !hasRows ? 'other schema' : 'adopt';
}
