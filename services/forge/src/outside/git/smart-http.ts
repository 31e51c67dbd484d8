import type { GitService } from '../../rules/git/git-protocol.ts';
import type { RunningProgram } from './broker.ts';
import type { DirectOutput } from './direct-output.ts';
import { gitOptions } from './environment.ts';
import type { Git } from './git.ts';

type Setting = readonly [string, string];

const UPLOAD: readonly Setting[] = [
  // Partial clones, as CI uses them.
  ['uploadpack.allowFilter', 'true'],
  // Only what a ref leads to; else everybody who knows an id could read what was removed.
  ['uploadpack.allowAnySHA1InWant', 'false'],
  // Branches whose move is not decided yet; see git-http/plan-push.ts.
  ['uploadpack.hideRefs', 'refs/staged'],
];

/** What may be pushed: branches, tags and notes. Everything else, refs/pull above all, is ours and hidden. */
const RECEIVE: readonly Setting[] = [
  ['receive.hideRefs', 'refs'],
  ['receive.hideRefs', '!refs/heads'],
  ['receive.hideRefs', '!refs/tags'],
  ['receive.hideRefs', '!refs/notes'],
  // A branch `refs/heads/x` (refs/heads/refs/heads/x) would answer for a missing branch x; see refs.ts.
  ['receive.hideRefs', 'refs/heads/refs'],
  ['receive.hideRefs', 'refs/tags/refs'],
  ['receive.fsckObjects', 'true'],
  // Found in old, honest repositories and harmless; the same three are let through by the large hosts.
  ['receive.fsck.badTimezone', 'ignore'],
  ['receive.fsck.missingSpaceBeforeDate', 'ignore'],
  ['receive.fsck.zeroPaddedFilemode', 'ignore'],
  // Deleting the branch that HEAD names would leave clones without a work tree.
  ['receive.denyDeleteCurrent', 'refuse'],
  ['receive.autogc', 'false'],
  // Pushes for review have some; other clients that send any are not refused for it.
  ['receive.advertisePushOptions', 'true'],
];

const STAGED: readonly Setting[] = [['receive.hideRefs', '!refs/staged']];

/** What a client asks of one of the programs. */
export interface GitRequest {
  /** The `Git-Protocol` header, as far as it is one. */
  protocol: string | undefined;
}

/** What a client asks of git-receive-pack. */
export interface PushRequest extends GitRequest {
  maxPushBytes: number;
  /** Whether it may be long. Its pack is then kept as it is: to take it apart, git holds each file in memory as a whole. */
  isLong?: boolean;
  /** Whether our own commands move refs where no client may. */
  staged?: boolean;
}

/** Starts the program so that it lists its refs or capabilities and ends. */
export function startAdvertising(
  git: Git,
  repositoryId: number,
  service: GitService,
  request: GitRequest,
): Promise<RunningProgram> {
  const folder = git.folderOf(repositoryId);
  const command = service === 'git-upload-pack' ? uploadPack() : receivePack({ maxPushBytes: 0 });
  return git.start([...command, '--http-backend-info-refs', folder], false, environmentOf(request));
}

/** Starts the program so that it serves one fetch, asked for on its standard input. */
export function startFetch(
  git: Git,
  repositoryId: number,
  request: GitRequest,
): Promise<RunningProgram<DirectOutput>> {
  return git.startDirect([...uploadPack(), git.folderOf(repositoryId)], environmentOf(request));
}

/** Starts the program so that it takes one push from its standard input. */
export function startPush(git: Git, repositoryId: number, request: PushRequest): Promise<RunningProgram> {
  const args = [...receivePack(request), git.folderOf(repositoryId)];
  return git.start(args, true, environmentOf(request));
}

function uploadPack(): string[] {
  return [...gitOptions(undefined, UPLOAD), 'upload-pack', '--strict', '--stateless-rpc'];
}

function receivePack({ maxPushBytes, isLong, staged }: Omit<PushRequest, 'protocol'>): string[] {
  const settings: Setting[] = [
    ...RECEIVE,
    ...(staged ? STAGED : []),
    ['receive.maxInputSize', String(maxPushBytes)],
    ...(isLong ? ([['receive.unpackLimit', '1']] as const) : []),
  ];
  return [...gitOptions(undefined, settings), 'receive-pack', '--stateless-rpc'];
}

function environmentOf({ protocol }: GitRequest): Record<string, string> {
  return protocol === undefined ? {} : { GIT_PROTOCOL: protocol };
}
