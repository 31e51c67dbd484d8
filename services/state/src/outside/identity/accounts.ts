import { readFile } from 'node:fs/promises';
import type { RunProgram } from '../programs.ts';

const LOOKUP_MS = 5000;

/** A user as this system knows him. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  /** His primary group. */
  readonly gid: number;
}

/** A user by name or uid; undefined when there is none, or nobody answers in time. */
export async function findAccount(run: RunProgram, key: string | number): Promise<Account | undefined> {
  const [name, , uid, gid] = (await find(run, 'passwd', String(key))) ?? [];
  // A name of digits is looked up as a uid, too, and must not become somebody else.
  const isMeant = typeof key === 'number' ? uid === String(key) : name === key;
  return name !== undefined && isMeant ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}

/** Whether a user belongs to a group, as his primary or as a further one. */
export async function isMember(run: RunProgram, { name, gid }: Account, group: string): Promise<boolean> {
  const [found, , groupId, members = ''] = (await find(run, 'group', group)) ?? [];
  return found === group && (Number(groupId) === gid || members.split(',').includes(name));
}

/** The fields of an entry: what `getent` says, which knows directories too, and without it what the file says. */
async function find(
  run: RunProgram,
  database: 'passwd' | 'group',
  key: string,
): Promise<string[] | undefined> {
  if (!/^[\w.][\w.@$-]{0,255}$/.test(key)) return undefined;
  const { ok, stdout } = await run('getent', ['--', database, key], { timeoutMs: LOOKUP_MS });
  const lines = ok ? stdout : await readFile(`/etc/${database}`, 'utf8').catch(() => '');
  return lines
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === key || fields[2] === key);
}
