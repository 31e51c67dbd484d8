import { z } from 'zod';
import type { ChangedFile } from '../outside/git/reading/changed-files.ts';

/** A changed file on the wire. */
export const changedFileSchema = z.object({
  filename: z.string(),
  previous_filename: z.string().optional(),
  status: z.enum(['added', 'deleted', 'renamed', 'changed']),
  additions: z.int(),
  deletions: z.int(),
  changes: z.int(),
  html_url: z.string(),
  contents_url: z.string(),
  raw_url: z.string(),
});

/** A changed file; the addresses are those of the file as it is afterwards. */
export function changedFileJson(
  { path, previousPath, status, additions, deletions }: ChangedFile,
  addresses: { html_url: string; contents_url: string; raw_url: string },
): z.output<typeof changedFileSchema> {
  return {
    filename: path,
    ...(previousPath === undefined ? {} : { previous_filename: previousPath }),
    status,
    additions,
    deletions,
    changes: additions + deletions,
    ...addresses,
  };
}
