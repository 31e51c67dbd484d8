import { randomUUID } from 'node:crypto';
import { treeMissing } from '../../../failures.ts';
import type { Dataset, Member } from '../../../model/model.ts';
import { pathBytes } from '../../../model/path-text.ts';
import type { SnapshotRequest } from '../storage.ts';
import type { Additions } from './additions.ts';
import { type Captured, captureTree } from './capture-tree.ts';
import { bytesOf, errorCode, lstat, type Stat } from './files.ts';
import { manifestPieces } from './manifest.ts';
import type { StatCache } from './stat-cache.ts';

/** Lines about single files that a save sends; the manifest has them all. */
const MAX_LINES = 20;

/** Stores one dataset's tree and its manifest, and tells the caller what could not be stored as it should. */
export async function snapshotDataset(
  dataset: Dataset,
  leaveOut: Stat,
  additions: Additions,
  cache: StatCache,
  request: SnapshotRequest,
): Promise<Member> {
  const root = pathBytes(dataset.path);
  await checkTree(dataset.path, root);
  const captured = await captureTree({ root, leaveOut, additions, cache, signal: request.signal });
  reportProblems(dataset, captured, request.report);
  const manifest = await additions.putText(manifestPieces(captured.tree));
  return {
    dataset: dataset.name,
    role: dataset.role,
    ...(dataset.user === undefined ? {} : { user: dataset.user }),
    path: dataset.path,
    guid: randomUUID(),
    snapshot: manifest.hash,
    entries: captured.entries,
    bytes: captured.bytes,
    unreadable: captured.unreadable.length,
    torn: captured.torn.length,
  };
}

async function checkTree(path: string, root: string): Promise<void> {
  try {
    const stat = await lstat(bytesOf(root));
    if (!stat.isDirectory()) throw treeMissing(path, 'it is no folder');
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw treeMissing(path, (error as Error).message);
  }
}

function reportProblems(dataset: Dataset, captured: Captured, report: (line: string) => void): void {
  const kinds: [readonly string[], string][] = [
    [captured.unreadable, 'could not be read'],
    [captured.torn, 'changed while it was read'],
    [captured.mounts, 'is another file system and was left out'],
  ];
  for (const [paths, what] of kinds) {
    for (const path of paths.slice(0, MAX_LINES)) report(`${dataset.path}/${path} ${what}`);
    if (paths.length > MAX_LINES) {
      report(`and ${paths.length - MAX_LINES} more of ${dataset.path}: ${what}`);
    }
  }
}
