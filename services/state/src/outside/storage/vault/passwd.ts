import { readFile } from 'node:fs/promises';

/** Whose files are whose. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** A user of this host by the name in `/etc/passwd`; undefined for one that is not there. */
export async function ownerOf(user: string): Promise<Owner | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  const fields = lines.map((line) => line.split(':')).find(([name]) => name === user);
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return Number.isSafeInteger(uid) && Number.isSafeInteger(gid) ? { uid, gid } : undefined;
}
