import { LRUCache } from 'lru-cache';
import type { RunningProgram } from '../broker.ts';
import { ConversationEnded, type TakeAnswer } from '../conversation.ts';
import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { inTurn } from './turns.ts';

/** What an object is, without its content. */
export interface ObjectInfo {
  id: string;
  type: 'commit' | 'tree' | 'blob' | 'tag';
  /** Bytes of its content. */
  size: number;
}

/** An object with its content, or the beginning of it where that is long. */
export interface ReadObject extends ObjectInfo {
  content: Buffer;
}

/** More than this is not asked of a process that others talk with too. */
export const MAX_IN_CONVERSATION = 256 * 1024;

/**
 * What objects are, in the order of their names; undefined for those that are missing, ambiguous or damaged. A name is
 * an id or its beginning, or a full ref that exists, each with `^{type}` behind it or not: git would read anything else
 * as an expression.
 */
export async function describeObjects(
  git: Git,
  repositoryId: number,
  names: readonly string[],
): Promise<(ObjectInfo | undefined)[]> {
  const questions = names.map((name) => `info ${name}\n`);
  return await askAll(git, repositoryId, questions, takeInfo);
}

/** What a single object is. */
export async function describeObject(
  git: Git,
  repositoryId: number,
  name: string,
): Promise<ObjectInfo | undefined> {
  return (await describeObjects(git, repositoryId, [name]))[0];
}

/** What becomes of objects larger than a quarter of a megabyte: so much of their beginning is read, or nothing. */
export type LongObjects = 'begin' | 'skip';

/** Objects by their full ids, in their order; undefined for those that are missing or damaged. */
export async function readObjects(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
  long: LongObjects = 'begin',
): Promise<(ReadObject | undefined)[]> {
  const infos = await describeObjects(git, repositoryId, ids);
  const small = infos.filter((info) => info !== undefined && info.size <= MAX_IN_CONVERSATION);
  const questions = small.map((info) => `contents ${info?.id}\n`);
  const answers = await askAll(git, repositoryId, questions, takeObject);
  const contents = new Map(small.map((info, index) => [info?.id, answers[index]?.content]));
  return await Promise.all(
    infos.map(async (info) => {
      if (info === undefined) return undefined;
      const isLong = info.size > MAX_IN_CONVERSATION;
      if (isLong && long === 'skip') return undefined;
      const content = isLong
        ? await readStart(git, repositoryId, info, MAX_IN_CONVERSATION)
        : contents.get(info.id);
      return content && { ...info, content };
    }),
  );
}

/** A single object. */
export async function readObject(
  git: Git,
  repositoryId: number,
  id: string,
  long?: LongObjects,
): Promise<ReadObject | undefined> {
  return (await readObjects(git, repositoryId, [id], long))[0];
}

/** Objects that turned out to be long. */
const knownLong = new LRUCache<string, true>({ max: 10_000 });

/**
 * The same for what is hardly ever long, such as commits and trees: asked for without a look at their sizes first, which takes
 * half as long. A long one costs everybody the process, once.
 */
export async function readSmallObjects(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
  long: LongObjects = 'begin',
): Promise<(ReadObject | undefined)[]> {
  if (ids.length === 0) return [];
  const conversation = await git.converse(repositoryId, 'objects');
  const answers = await Promise.allSettled(
    ids.map((id) =>
      knownLong.has(id)
        ? Promise.reject(new TooLong())
        : conversation.ask(`contents ${id}\n`, takeSmallObject),
    ),
  );
  for (const [index, answer] of answers.entries())
    if (answer.status === 'rejected' && answer.reason instanceof TooLong)
      knownLong.set(ids[index] as string, true);
  // The others may have been asked of a process that a long one, or a time without work, ended.
  const unread = ids.filter((_, index) => answers[index]?.status === 'rejected');
  const read = await readObjects(git, repositoryId, unread, long);
  const later = new Map(unread.map((id, index) => [id, read[index]]));
  return answers.map((answer, index) =>
    answer.status === 'fulfilled' ? answer.value : later.get(ids[index] as string),
  );
}

/** An object is longer than what is worth waiting for in a conversation. */
class TooLong extends Error {
  override readonly name = 'TooLong';
}

/** Starts git writing the content of an object to its standard output. */
export function startReading(git: Git, repositoryId: number, info: ObjectInfo): Promise<RunningProgram> {
  return git.start([...gitOptions(git.folderOf(repositoryId)), 'cat-file', info.type, info.id], false);
}

/** The first bytes of an object, as many as there are up to the limit; undefined when it is damaged. */
export async function readStart(
  git: Git,
  repositoryId: number,
  info: ObjectInfo,
  limit: number,
): Promise<Buffer | undefined> {
  return await inTurn(git, async () => {
    const program = await startReading(git, repositoryId, info);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limit) break;
    }
    program.kill();
    if (length >= Math.min(limit, info.size)) return Buffer.concat(chunks).subarray(0, limit);
    const failure = new GitFailed(repositoryId, ['cat-file'], await program.exited);
    if (failure.isForDamage) return undefined;
    throw failure;
  });
}

async function askAll<T>(
  git: Git,
  repositoryId: number,
  questions: readonly string[],
  take: TakeAnswer<T | undefined>,
): Promise<(T | undefined)[]> {
  if (questions.length === 0) return [];
  const conversation = await git.converse(repositoryId, 'objects');
  const answers = await Promise.allSettled(questions.map((question) => conversation.ask(question, take)));
  return await Promise.all(
    answers.map(async (answer, index) => {
      if (answer.status === 'fulfilled') return answer.value;
      if (!(answer.reason instanceof ConversationEnded)) throw answer.reason;
      return await askAlone(git, repositoryId, questions[index] as string, take);
    }),
  );
}

/**
 * The process may have been ended for being idle, or it fell over a damaged object, somebody else's perhaps: once more
 * with a process that hears no other question.
 */
async function askAlone<T>(
  git: Git,
  repositoryId: number,
  question: string,
  take: TakeAnswer<T | undefined>,
): Promise<T | undefined> {
  const args = ['cat-file', '--batch-command'];
  const { stdout, ...exit } = await git.run(repositoryId, args, `info ${NO_OBJECT}\n${question}`);
  const isAble = stdout.toString('latin1', 0, CANARY.length) === CANARY;
  const taken = isAble ? take(stdout.subarray(CANARY.length)) : undefined;
  if (taken !== undefined) return taken.answer;
  // One that answers the first question and falls over the second fell over the object.
  if (isAble && exit.code === 128 && !LACKS_SOMETHING.test(exit.stderr)) return undefined;
  throw new GitFailed(repositoryId, args, exit);
}

/** The name of no object, and what every git says that can run in the repository. */
const NO_OBJECT = '0'.repeat(40);
const CANARY = `${NO_OBJECT} missing\n`;
const LACKS_SOMETHING = /out of memory|cannot allocate|too many open files|resource temporarily/i;

const HEADER = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/;

/** `<id> <type> <size>`, or the name with why not behind it. */
function readHeader(received: Buffer): { info: ObjectInfo | undefined; end: number } | undefined {
  const end = received.indexOf('\n');
  if (end === -1) return undefined;
  const [, id = '', type, size] = HEADER.exec(received.toString('latin1', 0, end)) ?? [];
  const info = type === undefined ? undefined : { id, type: type as ObjectInfo['type'], size: Number(size) };
  return { info, end };
}

const takeInfo: TakeAnswer<ObjectInfo | undefined> = (received) => {
  const header = readHeader(received);
  return header && { answer: header.info, length: header.end + 1 };
};

/** The header, the content, and a line break. */
const takeObject: TakeAnswer<ReadObject | undefined> = (received) => {
  const header = readHeader(received);
  if (header === undefined) return undefined;
  const start = header.end + 1;
  if (header.info === undefined) return { answer: undefined, length: start };
  const end = start + header.info.size;
  if (received.length <= end) return undefined;
  // A copy: a view would keep everything that arrived with it.
  const content = Buffer.from(received.subarray(start, end));
  return { answer: { ...header.info, content }, length: end + 1 };
};

/** The same, unless it is long. */
const takeSmallObject: TakeAnswer<ReadObject | undefined> = (received) => {
  const size = readHeader(received)?.info?.size ?? 0;
  if (size > MAX_IN_CONVERSATION) throw new TooLong();
  return takeObject(received);
};
