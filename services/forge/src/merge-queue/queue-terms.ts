import { NO_OPTIONS } from '../protections/protection-json.ts';
import type { Protection } from '../rules/git/protection.ts';

/** What the protection of a branch says about its merge queue. */
export interface QueueOptions {
  /** Without what the merges ahead of the branch are tested for: they stand on it, and checks look at them. */
  protection: Protection;
  batch: number;
  timeoutMinutes: number;
  /** Contexts that the merges ahead of the branch have to be green in; none where nothing is checked. */
  required: readonly string[];
}

/** Where a queue is. */
export interface QueuePlace {
  repositoryId: number;
  branch: string;
}

/** The ref under which a merge ahead of its branch can be fetched: nobody pushes there. */
export const queueRef = (branch: string, number: number) => `${QUEUE_REFS}${branch}/${number}`;

/** What these refs begin with. */
export const QUEUE_REFS = 'refs/queue/';

/** Checks without names are all there are. */
const requiredBy = (contexts: readonly string[]) => (contexts.length === 0 ? ['*'] : contexts);

/** The merge queue that the protection of a branch makes; undefined when there is none. */
export function queueOptionsOf(protection: Protection | undefined): QueueOptions | undefined {
  if (protection === undefined || !protection.options.enable_merge_queue) return undefined;
  // Rows of long ago may lack an option that came later.
  const options = { ...NO_OPTIONS, ...protection.options };
  const relieved = { ...options, block_on_outdated_branch: false, enable_status_check: false };
  return {
    protection: { ...protection, options: relieved },
    batch: options.merge_queue_batch,
    timeoutMinutes: options.merge_queue_timeout_minutes,
    required: options.enable_status_check ? requiredBy(options.status_check_contexts) : [],
  };
}
