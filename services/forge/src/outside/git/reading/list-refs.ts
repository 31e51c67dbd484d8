import type { Git } from '../git.ts';
import { readRecords } from './records.ts';

/** A ref and what it points to, which for an annotated tag is the tag. */
export interface ListedRef {
  /** The full name. */
  ref: string;
  id: string;
  type: string;
  /** What an annotated tag is of, which may be another tag; empty for what is no tag. */
  taggedType: string;
}

/** A part of the refs, in their order, and how many there are. */
export interface RefSlice {
  refs: ListedRef[];
  total: number;
}

/** Which of the refs are wanted. */
export interface RefsWanted {
  offset: number;
  limit: number;
  /** By the time of the tag or commit, instead of by name. */
  newestFirst?: boolean;
  /** Branches are of commits; with others, git has to look at what each is of. */
  areBranches?: boolean;
}

/**
 * Refs below a folder such as `refs/heads`, or the one of exactly this name: one process.
 * @param accept which of them count
 */
export async function listRefs(
  git: Git,
  repositoryId: number,
  folder: string,
  wanted: RefsWanted,
  accept: (ref: ListedRef) => boolean = () => true,
): Promise<RefSlice> {
  const refs: ListedRef[] = [];
  let total = 0;
  const types = wanted.areBranches ? 'commit ' : '%(objecttype) %(*objecttype)';
  const format = `--format=%(objectname) ${types} %(refname)%00`;
  const order = wanted.newestFirst ? ['--sort=-creatordate'] : [];
  const args = ['for-each-ref', ...order, format, '--', folder];
  const take = (record: Buffer) => {
    // A line break stands before every one but the first.
    const [id = '', type = '', taggedType = '', ...name] = record.toString().trimStart().split(' ');
    const listed = { ref: name.join(' '), id, type, taggedType };
    if (!accept(listed)) return;
    if (total >= wanted.offset && refs.length < wanted.limit) refs.push(listed);
    total++;
  };
  await readRecords(git, repositoryId, args, take, { isAnswer: true });
  return { refs, total };
}

/** What all refs point to that clients may see, and what their tags are of. */
export async function listTips(git: Git, repositoryId: number): Promise<ReadonlySet<string>> {
  const tips = new Set<string>();
  const format = '--format=%(objectname) %(*objectname) %(refname)%00';
  const take = (record: Buffer) => {
    const [id = '', tagged = '', ref = ''] = record.toString().trimStart().split(' ');
    if (ref.startsWith('refs/staged/')) return;
    tips.add(id);
    if (tagged !== '') tips.add(tagged);
  };
  await readRecords(git, repositoryId, ['for-each-ref', format], take, { isAnswer: true });
  return tips;
}
