import { randomUUID } from 'node:crypto';
import { Failure } from '@croft/failure';
import { treeMissing } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import type { Dataset, Member } from '../../../../model/model.ts';
import { pathBytes, pathIn } from '../../../../model/path-text.ts';
import { sizeText } from '../../../../rules/machines/sizes.ts';
import { NO_ANSWER } from '../../../answering.ts';
import type { SnapshotRequest } from '../../storage.ts';
import type { Additions } from '../content/additions.ts';
import type { StatCache } from '../content/stat-cache.ts';
import { bytesOf, errorCode, lstat, type Stat } from '../files.ts';
import { type Captured, captureTree } from './capture-tree.ts';
import { storeManifest } from './manifest.ts';
import { whileTelling } from './while-telling.ts';

/** Lines about single files that a save sends; the manifest has them all. */
const MAX_LINES = 20;

/** What was left out because it would take too long, by the code in the manifest. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  EFBIG: 'is hardly anything but a hole and was left out',
  ENAMETOOLONG: 'lies too deep and was left out',
};

/** What a home is saved without that is a file system of its own: what lies in its place is not the home. */
const AWAY: Reason = { code: 'ENODEV', message: 'the file system of this home is not mounted there' };

/** And one that would hold the save up. */
const SILENT: Reason = { code: 'ETIMEDOUT', message: NO_ANSWER };

/** What is known of where a dataset lies. */
interface Place {
  /** What is left out of it. */
  readonly leaveOut: Stat;
  /** It is a file system that is not mounted now. */
  readonly isAway: boolean;
  /** It is on one that nobody answers for any more. */
  readonly isSilent: boolean;
}

/** Stores one dataset's tree and its manifest, and tells the caller what could not be stored as it should. */
export async function snapshotDataset(
  dataset: Dataset,
  place: Place,
  additions: Additions,
  cache: StatCache,
  request: SnapshotRequest,
): Promise<Member> {
  const root = pathBytes(dataset.path);
  const missing = await whyMissing(root, place);
  // A home that somebody deleted, or filled with files, must not keep the machine and the other homes from being saved.
  const isNeeded = dataset.role !== 'user' || request.datasets.every(({ role }) => role === 'user');
  if (missing !== undefined && isNeeded) throw treeMissing(dataset.path, missing.message);
  const seen = { entries: 0, bytes: 0 };
  const howFar = () =>
    `${dataset.path}: ${seen.entries} entries, ${sizeText(seen.bytes)}, ${sizeText(additions.written)} new`;
  const capture = () =>
    captureTree({ root, leaveOut: place.leaveOut, additions, cache, signal: request.signal, seen });
  const found =
    missing ??
    (await whileTelling(request.progress, howFar, capture).catch((error) => whyTooMuch(error, isNeeded)));
  const captured = 'code' in found ? missingTree(found.code) : found;
  if ('code' in found)
    request.report(`${dataset.path}, the home of ${dataset.user}, was not saved: ${found.message}`);
  else reportProblems(dataset, captured, request.report);
  return {
    dataset: dataset.name,
    role: dataset.role,
    ...(dataset.user === undefined ? {} : { user: dataset.user }),
    path: dataset.path,
    guid: randomUUID(),
    snapshot: await storeManifest(captured.tree, additions, cache),
    entries: captured.entries,
    bytes: captured.bytes,
    unreadable: captured.unreadable.length,
    torn: captured.torn.length,
  };
}

interface Reason {
  readonly code: string;
  readonly message: string;
}

async function whyMissing(root: string, { isAway, isSilent }: Place): Promise<Reason | undefined> {
  if (isSilent) return SILENT;
  try {
    const stat = await lstat(bytesOf(root));
    if (!stat.isDirectory()) return { code: 'ENOTDIR', message: 'it is no folder' };
    return isAway ? AWAY : undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { code, message: (error as Error).message };
  }
}

/** Why a home that the rest is saved without could not be held in memory. @throws anything else */
function whyTooMuch(error: unknown, isNeeded: boolean): Reason {
  if (isNeeded || !(error instanceof Failure) || error.code !== 'list_too_long') throw error;
  return { code: 'E2BIG', message: error.message };
}

/** A tree of which nothing is known, so that going back to it changes nothing. */
function missingTree(code: string): Captured {
  const entry = {
    path: '.',
    type: 'folder',
    mode: '700',
    uid: 0,
    gid: 0,
    mtimeNs: '0',
    unreadable: code,
  } as const;
  const none = { bytes: 0, torn: [], mounts: [], bare: [] };
  const tree = { line: JSON.stringify(entry satisfies Entry), items: [] };
  return { ...none, tree, entries: 0, unreadable: [{ path: '.', code }] };
}

function reportProblems(dataset: Dataset, captured: Captured, report: (line: string) => void): void {
  const { unreadable } = captured;
  const because = (code: string) => unreadable.filter((one) => one.code === code).map(({ path }) => path);
  const others = unreadable.filter(({ code }) => !(code in LEFT_OUT)).map(({ path }) => path);
  const kinds: [readonly string[], string][] = [
    [others, 'could not be read'],
    ...Object.entries(LEFT_OUT).map(([code, what]): [string[], string] => [because(code), what]),
    [captured.torn, 'changed while it was read'],
    [captured.mounts, 'is another file system and was left out'],
    [captured.bare, 'was saved without its extended attributes'],
  ];
  for (const [paths, what] of kinds) {
    for (const path of paths.slice(0, MAX_LINES)) report(`${pathIn(dataset.path, path)} ${what}`);
    if (paths.length > MAX_LINES) {
      report(`and ${paths.length - MAX_LINES} more of ${dataset.path}: ${what}`);
    }
  }
}
