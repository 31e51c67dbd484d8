import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import type { Tx } from '@croft/sql';
import { planReviews } from '../agit/plan-reviews.ts';
import type { Caller } from '../caller/caller.ts';
import { inPath } from '../commits/commit-json.ts';
import type { Context } from '../context.ts';
import { becameDefault } from '../failures.ts';
import type { RunningProgram } from '../outside/git/broker.ts';
import { readRefIds } from '../outside/git/refs.ts';
import { startPush } from '../outside/git/smart-http.ts';
import { roomLeft } from '../repositories/room-left.ts';
import { readProtocol } from '../rules/git/git-protocol.ts';
import { branchOf, FLUSH, kindOf, type PushCommand } from '../rules/git/push-request.ts';
import type { PushRow } from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import type { GitVisitor } from './admit-git.ts';
import { clientOf, finishPush, type Push, stagedCommand } from './finish-push.ts';
import { loadRules, packWhileAllowed } from './keep-rights.ts';
import { planPush, type Verdict } from './plan-push.ts';
import { encodeReport, type PushReport, readReport } from './push-report.ts';
import { readPush } from './read-push.ts';
import { beginPush, recordPush } from './record-push.ts';
import { feed, plainBody } from './request-body.ts';
import { runForClient } from './run-for-client.ts';
import { encodingOf, failureOf, type GitCall } from './serve-git.ts';

/** What comes before the pack of a push: its commands. */
const MAX_COMMANDS_BYTES = 32 * 1024 * 1024;
/** git's clients send what is longer than this without saying how long it is. */
const LONG_PUSH_BYTES = 1024 * 1024;
/** More new branches at once are no work that somebody wants looked at. */
const MAX_HINTS = 3;

/**
 * Serves a push: decides on its commands, lets git's own program do what is allowed with the client's bytes, and answers
 * with what became of each ref. Nothing of the pack is kept.
 */
export async function servePush(
  context: Context,
  visitor: GitVisitor & { caller: Caller },
  call: GitCall,
): Promise<Readable> {
  // Before a byte is read: commands take memory until all is decided.
  const giveBack = await context.queues.clients.take(visitor.share);
  let isRunning = false;
  try {
    const decided = await decide(context, visitor, call);
    if (decided instanceof Readable) return decided;
    isRunning = true;
    return await carryOut(context, decided, call, giveBack);
  } finally {
    if (!isRunning) giveBack();
  }
}

/** What is to be done, or the answer where that is nothing. */
async function decide(
  context: Context,
  visitor: GitVisitor & { caller: Caller },
  call: GitCall,
): Promise<Omit<Push, 'row'> | Readable> {
  const { settings } = context;
  const { found, caller } = visitor;
  const limits = {
    maxBytes: settings.GIT_MAX_PUSH_BYTES + MAX_COMMANDS_BYTES,
    idleMs: settings.GIT_IDLE_TIMEOUT,
  };
  const request = await readPush(plainBody(call.body, encodingOf(call), limits));
  // With this git finds out whether it may push at all, before it sends a long request.
  if (request.commands.length === 0) return Readable.from([FLUSH], { objectMode: false });
  const isAtomic = request.capabilities.has('atomic');
  const [rules, reviews, elsewhere, room = Number.POSITIVE_INFINITY] = await Promise.all([
    loadRules(context, visitor),
    planReviews(context, { found, login: caller.user.login }, { ...request, isAtomic }),
    findElsewhere(context, found.repository.id, request.commands),
    roomLeft(context, found.repository),
  ]);
  const isFull = room === 0;
  const { default_branch: defaultBranch } = found.repository;
  const verdicts = planPush(request.commands, rules, { isAtomic, isFull, reviews, defaultBranch, elsewhere });
  if (verdicts.every(({ kind }) => kind === 'refuse')) {
    // A client listens only when it has said everything.
    for await (const _ of request.pack);
    const refs = new Map(verdicts.map((verdict) => [verdict.command.ref, reasonOf(verdict)]));
    const answer = encodeReport({ unpack: 'unpack ok', refs }, clientOf(request), notesOf(refs));
    return Readable.from([answer], { objectMode: false });
  }
  // What comes with a refused review stays: whoever owns the repository has the disk that somebody else fills.
  const mayWrite =
    visitor.lent === undefined || verdicts.some(({ kind }) => kind === 'pass' || kind === 'stage');
  const most = mayWrite ? settings.GIT_MAX_PUSH_BYTES : settings.GIT_MAX_REVIEW_BYTES;
  const maxBytes = Math.min(most, room || most);
  return { visitor, request, rules, isAtomic, verdicts, maxBytes };
}

/** Refs that are to be deleted from where they are not, or are not there. */
async function findElsewhere(
  { git }: Context,
  repositoryId: number,
  commands: readonly PushCommand[],
): Promise<Set<string>> {
  const deleted = commands.filter((command) => kindOf(command) === 'delete');
  const refs = deleted.map(({ ref }) => ref);
  const ids = await readRefIds(git, repositoryId, refs);
  return new Set(deleted.flatMap(({ ref, before }) => (ids.get(ref) === before ? [] : [ref])));
}

/** @param giveBack the slot it has, when the program has ended or was never started */
async function carryOut(
  context: Context,
  plan: Omit<Push, 'row'>,
  call: GitCall,
  giveBack: () => void,
): Promise<Readable> {
  const { request, verdicts } = plan;
  const { row, program } = await begin(context, plan, call, giveBack);
  call.onGone(() => program.kill());
  const commands = verdicts.flatMap((verdict, index) => stagedCommand(verdict, row, index) ?? []);
  async function* input() {
    yield request.encode(commands);
    yield* packWhileAllowed(context, plan);
  }
  const fed = program.stdin === undefined ? Promise.resolve() : feed(input(), program.stdin);
  const answer = new PassThrough();
  answer.on('error', () => {});
  // Also when the client is gone: its branches may have moved all the same.
  void context.queues.track(conclude(context, { ...plan, row }, program, answer));
  try {
    // Until git says something, a bad request can still be answered as one.
    await Promise.race([once(answer, 'readable'), failureOf(fed)]);
  } catch (failure) {
    program.kill();
    throw failure;
  }
  // A request that turns bad now breaks off the answer.
  fed.catch(() => program.kill());
  return answer;
}

/** Writes the intent and starts the program, which is told nothing before both are there. */
async function begin(
  context: Context,
  { visitor: { found, caller, share }, verdicts, maxBytes }: Omit<Push, 'row'>,
  call: GitCall,
  giveBack: () => void,
): Promise<{ row: PushRow; program: RunningProgram }> {
  const { id } = found.repository;
  const moves = verdicts.flatMap(({ kind, command }) =>
    kind === 'refuse' || kind === 'review' ? [] : [command],
  );
  const start = () =>
    startPush(context.git, id, {
      protocol: readProtocol('git-receive-pack', call.headers['git-protocol']),
      maxPushBytes: maxBytes,
      isLong: !(Number(call.headers['content-length']) < LONG_PUSH_BYTES),
      staged: verdicts.some(({ kind }) => kind === 'stage' || kind === 'review'),
    });
  const [intent, started] = await Promise.allSettled([
    // Should we die during the push, the next start looks at what it changed.
    beginPush(context, id, caller.userId, { moves }, keepDefaultBranch(id, moves)),
    runForClient(context, share, start, giveBack),
  ]);
  if (intent.status === 'rejected') {
    if (started.status === 'fulfilled') started.value.kill();
    throw intent.reason;
  }
  if (started.status === 'rejected') {
    await recordPush(context, intent.value, []);
    throw started.reason;
  }
  return { row: intent.value, program: started.value };
}

/**
 * An edit makes one of the branches that are deleted the default one, or has just done so: git looks at HEAD, which follows last.
 * Held so that it finds the intent, or we find what it did. Only deletions cost this.
 */
function keepDefaultBranch(repositoryId: number, moves: readonly PushCommand[]) {
  const deleted = new Set(
    moves.flatMap((move) => (kindOf(move) === 'delete' ? (branchOf(move.ref) ?? []) : [])),
  );
  if (deleted.size === 0) return undefined;
  return async (tx: Tx) => {
    await repositories.holdReady(tx, [repositoryId]);
    const now = await repositories.findById(tx, repositoryId);
    if (now !== undefined && deleted.has(now.default_branch)) throw becameDefault();
    return {};
  };
}

/** Sees a push to its end, whether anybody listens or not: what git said, what is still to move, and the record. */
async function conclude(
  context: Context,
  push: Push,
  program: RunningProgram,
  answer: PassThrough,
): Promise<void> {
  const { visitor, request, verdicts, row } = push;
  const { repository } = visitor.found;
  const client = clientOf(request);
  let report: PushReport = { unpack: undefined, refs: new Map() };
  let notes: readonly string[] = [];
  let isKnown = client.wantsReport;
  try {
    report = await readReport(program.stdout as AsyncIterable<Buffer>, client.sideband, (packet) =>
      answer.write(packet),
    );
    const exit = await program.exited;
    if (exit.code !== 0)
      context.log.info(
        { service: 'git-receive-pack', repository: repository.id, ...exit },
        'git ended with an error',
      );
    const finished = await finishPush(context, push, report);
    report = { unpack: report.unpack, refs: finished.refs };
    notes = finished.notes;
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    context.log.error({ repository: repository.id, reason }, 'a push ended with an error of ours');
    program.kill();
    await program.exited;
    // Then the refs themselves say what moved.
    isKnown = false;
    report = {
      unpack: report.unpack,
      refs: new Map(verdicts.map(({ command }) => [command.ref, OWN_ERROR])),
    };
  }
  const done = verdicts.filter(
    ({ command: { ref } }) => report.refs.has(ref) && report.refs.get(ref) === undefined,
  );
  // A client that wants no report gets none from git either; then the refs themselves say what moved.
  const known = isKnown && report.unpack !== undefined;
  const moves = done.flatMap(({ kind, command }) =>
    kind === 'review' || command.before === command.after ? [] : [command],
  );
  await recordPush(context, row, known ? moves : undefined);
  answer.end(
    encodeReport(report, client, [
      ...notesOf(report.refs, verdicts),
      ...notes,
      ...hintsFor(context, visitor, moves),
    ]),
  );
}

const OWN_ERROR = 'an error of the server: look whether it moved';

const reasonOf = (verdict: Verdict) => (verdict.kind === 'refuse' ? verdict.reason : undefined);

/** Reasons of ours as lines for people; git has said its own. */
function notesOf(refs: PushReport['refs'], verdicts: readonly Verdict[] = []): string[] {
  const passed = new Set(verdicts.flatMap(({ kind, command }) => (kind === 'pass' ? [command.ref] : [])));
  return [
    ...new Set(
      [...refs].flatMap(([ref, reason]) => (reason === undefined || passed.has(ref) ? [] : [reason])),
    ),
  ];
}

/** Where pull requests for new branches are made. */
function hintsFor(context: Context, { found }: GitVisitor, moves: readonly PushCommand[]): string[] {
  const { repository, owner } = found;
  if (repository.empty) return [];
  const fresh = moves.flatMap((move) => (kindOf(move) === 'create' ? (branchOf(move.ref) ?? []) : []));
  const address = `${context.links.repository(owner.login, repository.name)}/compare/${inPath(repository.default_branch)}...`;
  return fresh.length > MAX_HINTS
    ? []
    : fresh.map((branch) => `\nCreate a pull request for '${branch}':\n  ${address}${inPath(branch)}\n`);
}
