import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { loadPushRules, type PushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import { inPath } from '../commits/commit-json.ts';
import type { Context } from '../context.ts';
import type { RunningProgram } from '../outside/git/broker.ts';
import { startPush } from '../outside/git/smart-http.ts';
import { roomLeft } from '../repositories/room-left.ts';
import { readProtocol } from '../rules/git/git-protocol.ts';
import { branchOf, FLUSH, kindOf, type PushCommand } from '../rules/git/push-request.ts';
import type { PushRow } from '../store/repositories/pushes.ts';
import type { GitVisitor } from './admit-git.ts';
import { moveStaged } from './move-staged.ts';
import { planPush, type Verdict } from './plan-push.ts';
import { encodeReport, type PushReport, readReport } from './push-report.ts';
import { type PushRequest, readPush } from './read-push.ts';
import { beginPush, recordPush } from './record-push.ts';
import { feed, plainBody } from './request-body.ts';
import { runForClient } from './run-for-client.ts';
import { encodingOf, failureOf, type GitCall } from './serve-git.ts';
import { removeStaged, STAGED } from './staged-refs.ts';

/** What comes before the pack of a push: its commands. */
const MAX_COMMANDS_BYTES = 32 * 1024 * 1024;
/** git's clients send what is longer than this without saying how long it is. */
const LONG_PUSH_BYTES = 1024 * 1024;
/** More new branches at once are no work that somebody wants looked at. */
const MAX_HINTS = 3;

/** A push, decided. */
interface Push {
  visitor: GitVisitor & { caller: Caller };
  request: PushRequest;
  rules: PushRules;
  isAtomic: boolean;
  verdicts: readonly Verdict[];
  row: PushRow;
  /** Of its pack. */
  maxBytes: number;
}

/**
 * Serves a push: decides on its commands, lets git's own program do what is allowed with the client's bytes, and answers
 * with what became of each ref. Nothing of the pack is kept.
 */
export async function servePush(
  context: Context,
  visitor: GitVisitor & { caller: Caller },
  call: GitCall,
): Promise<Readable> {
  const { settings } = context;
  const { found, caller } = visitor;
  const limits = {
    maxBytes: settings.GIT_MAX_PUSH_BYTES + MAX_COMMANDS_BYTES,
    idleMs: settings.GIT_IDLE_TIMEOUT,
  };
  const request = await readPush(plainBody(call.body, encodingOf(call), limits));
  // With this git finds out whether it may push at all, before it sends a long request.
  if (request.commands.length === 0) return Readable.from([FLUSH], { objectMode: false });
  const [rules, room = Number.POSITIVE_INFINITY] = await Promise.all([
    loadRules(context, visitor),
    roomLeft(context, found.repository),
  ]);
  const isAtomic = request.capabilities.has('atomic');
  const verdicts = planPush(request.commands, rules, { isAtomic, isFull: room === 0 });
  if (verdicts.every(({ kind }) => kind === 'refuse')) {
    // A client listens only when it has said everything.
    for await (const _ of request.pack);
    const refs = new Map(verdicts.map((verdict) => [verdict.command.ref, reasonOf(verdict)]));
    const answer = encodeReport({ unpack: 'unpack ok', refs }, clientOf(request), notesOf(refs));
    return Readable.from([answer], { objectMode: false });
  }
  const moves = verdicts.flatMap(({ kind, command }) => (kind === 'refuse' ? [] : [command]));
  // The intent: should we die during the push, the next start looks at what it changed.
  const row = await beginPush(context, found.repository.id, caller.userId, { moves });
  const maxBytes = Math.min(settings.GIT_MAX_PUSH_BYTES, room || settings.GIT_MAX_PUSH_BYTES);
  return await carryOut(context, { visitor, request, rules, isAtomic, verdicts, row, maxBytes }, call);
}

/** What holds for the visitor: on branches that are lent to him he counts as somebody who may write. */
async function loadRules(
  context: Context,
  { found, caller, lent }: GitVisitor & { caller: Caller },
): Promise<PushRules> {
  const rules = await loadPushRules(context, found, caller.userId);
  return lent === undefined ? rules : { ...rules, pusher: { ...rules.pusher, mayWrite: true }, lent };
}

async function carryOut(context: Context, push: Push, call: GitCall): Promise<Readable> {
  const { git, queues } = context;
  const { visitor, request, verdicts, row } = push;
  const { id } = visitor.found.repository;
  const start = () =>
    startPush(git, id, {
      protocol: readProtocol('git-receive-pack', call.headers['git-protocol']),
      maxPushBytes: push.maxBytes,
      isLong: !(Number(call.headers['content-length']) < LONG_PUSH_BYTES),
      staged: verdicts.some(({ kind }) => kind === 'stage'),
    });
  const program = await runForClient(context, visitor.share, start).catch(async (error: unknown) => {
    await recordPush(context, row, []);
    throw error;
  });
  call.onGone(() => program.kill());
  const commands = verdicts.flatMap((verdict, index) => stagedCommand(verdict, row, index) ?? []);
  async function* input() {
    yield request.encode(commands);
    yield* request.pack;
  }
  const fed = program.stdin === undefined ? Promise.resolve() : feed(input(), program.stdin);
  const answer = new PassThrough();
  answer.on('error', () => {});
  // Also when the client is gone: its branches may have moved all the same.
  void queues.track(conclude(context, push, program, answer));
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
    report = { unpack: report.unpack, refs: await finish(context, push, report) };
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    context.log.error({ repository: repository.id, reason }, 'a push ended with an error of ours');
    program.kill();
    await program.exited;
  }
  const done = verdicts.filter(
    ({ command: { ref } }) => report.refs.has(ref) && report.refs.get(ref) === undefined,
  );
  // A client that wants no report gets none from git either; then the refs themselves say what moved.
  const known = client.wantsReport && report.unpack !== undefined;
  const moves = done.map(({ command }) => command).filter(({ before, after }) => before !== after);
  await recordPush(context, row, known ? moves : undefined);
  answer.end(
    encodeReport(report, client, [...notesOf(report.refs, verdicts), ...hintsFor(context, visitor, moves)]),
  );
}

/** What became of each ref, under the client's names; moves those that waited for their commits. */
async function finish(
  context: Context,
  { visitor, rules, isAtomic, verdicts, row }: Push,
  report: PushReport,
): Promise<PushReport['refs']> {
  const { repository } = visitor.found;
  const staged = verdicts.flatMap(({ kind, command }, index) =>
    kind === 'stage' ? [{ command, name: stagedName(row, index) }] : [],
  );
  const arrived = staged.filter(({ command, name }) => {
    // A deletion brings nothing that could arrive.
    return kindOf(command) === 'delete' || (report.refs.has(name) && report.refs.get(name) === undefined);
  });
  const complete = isAtomic ? arrived.length === staged.length : true;
  const outcome = new Map<string, string | undefined>();
  if (complete && arrived.length > 0) {
    const commands = arrived.map(({ command }) => command);
    const reasons = await moveStaged(context, repository, commands, rules, isAtomic);
    for (const [index, { ref }] of commands.entries()) outcome.set(ref, reasons[index]);
  }
  if (staged.length > 0) await removeStaged(context.git, repository.id, `${STAGED}${row.id}/`);
  return new Map(
    verdicts.map((verdict, index): [string, string | undefined] => {
      const { ref } = verdict.command;
      if (verdict.kind === 'refuse') return [ref, verdict.reason];
      if (verdict.kind === 'stage' && outcome.has(ref)) return [ref, outcome.get(ref)];
      const name = verdict.kind === 'stage' ? stagedName(row, index) : ref;
      if (!report.refs.has(name)) return [ref, 'git ended before it was moved'];
      return [
        ref,
        report.refs.get(name) ?? (verdict.kind === 'stage' ? 'the push is incomplete' : undefined),
      ];
    }),
  );
}

const stagedName = (row: PushRow, index: number) => `${STAGED}${row.id}/${index}`;

/** The command git gets; none for what is refused, or done by ourselves. */
function stagedCommand(verdict: Verdict, row: PushRow, index: number): PushCommand | undefined {
  const { kind, command } = verdict;
  if (kind === 'pass') return command;
  if (kind === 'refuse' || kindOf(command) === 'delete') return undefined;
  return { ref: stagedName(row, index), before: '0'.repeat(40), after: command.after };
}

function clientOf({ capabilities }: PushRequest): { sideband: boolean; wantsReport: boolean } {
  return {
    sideband: capabilities.has('side-band-64k'),
    wantsReport: capabilities.has('report-status') || capabilities.has('report-status-v2'),
  };
}

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
