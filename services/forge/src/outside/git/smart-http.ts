import type { GitService } from '../../rules/git/git-protocol.ts';
import type { RunningProgram } from './broker.ts';
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
  // Nothing is done with them, but a client that sends some is not refused for it.
  ['receive.advertisePushOptions', 'true'],
];

const STAGED: readonly Setting[] = [['receive.hideRefs', '!refs/staged']];

/** What a client asks of one of the programs. */
export interface GitRequest {
  service: GitService;
  /** The `Git-Protocol` header, as far as it is one. */
  protocol: string | undefined;
  maxPushBytes: number;
  /** Whether our own commands move refs where no client may. */
  staged?: boolean;
}

/** Starts the program so that it lists its refs or capabilities and ends. */
export function startAdvertising(
  git: Git,
  repositoryId: number,
  request: GitRequest,
): Promise<RunningProgram> {
  return start(git, repositoryId, request, ['--http-backend-info-refs'], false);
}

/** Starts the program so that it serves one request on its standard input. */
export function startServing(git: Git, repositoryId: number, request: GitRequest): Promise<RunningProgram> {
  return start(git, repositoryId, request, [], true);
}

function start(
  git: Git,
  repositoryId: number,
  request: GitRequest,
  flags: readonly string[],
  input: boolean,
) {
  const { service, protocol, maxPushBytes, staged = false } = request;
  const settings: readonly Setting[] =
    service === 'git-upload-pack'
      ? UPLOAD
      : [...RECEIVE, ...(staged ? STAGED : []), ['receive.maxInputSize', String(maxPushBytes)]];
  const subcommand = service === 'git-upload-pack' ? ['upload-pack', '--strict'] : ['receive-pack'];
  const args = [
    ...gitOptions(undefined, settings),
    ...subcommand,
    '--stateless-rpc',
    ...flags,
    git.folderOf(repositoryId),
  ];
  const environment: Record<string, string> = protocol === undefined ? {} : { GIT_PROTOCOL: protocol };
  return service === 'git-receive-pack' && input
    ? git.startConfined(args, environment, MAX_PUSH_MEMORY_BYTES)
    : git.start(args, input, environment);
}

/** A delta of a few bytes may say that it makes gigabytes, which git would allocate. */
const MAX_PUSH_MEMORY_BYTES = 2 * 1024 * 1024 * 1024;
