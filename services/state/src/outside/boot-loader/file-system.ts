import { readdir, readFile, realpath } from 'node:fs/promises';

/** The file system that a folder is on. */
interface FileSystem {
  /** Where it is mounted. */
  readonly mount: string;
  /** Undefined where the host does not tell. */
  readonly uuid: string | undefined;
}

const BY_UUID = '/dev/disk/by-uuid';

/** Finds out by the kernel's list of mounts. */
export async function fileSystemOf(folder: string): Promise<FileSystem> {
  const path = await realpath(folder);
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(' '))
    // Later mounts lie over earlier ones.
    .reverse()
    .flatMap((fields) => {
      const mount = unescaped(fields[4] ?? '');
      return mount === '' ? [] : [{ mount, source: unescaped(fields[fields.indexOf('-') + 2] ?? '') }];
    })
    .filter(({ mount }) => mount === '/' || path === mount || path.startsWith(`${mount}/`))
    .sort((a, b) => b.mount.length - a.mount.length);
  const [found] = mounts;
  if (found === undefined) return { mount: '/', uuid: undefined };
  return { mount: found.mount, uuid: await uuidOf(found.source) };
}

async function uuidOf(source: string): Promise<string | undefined> {
  const device = await realpath(source).catch(() => undefined);
  for (const uuid of await readdir(BY_UUID).catch(() => [])) {
    if ((await realpath(`${BY_UUID}/${uuid}`).catch(() => '')) === device) return uuid;
  }
  return undefined;
}

/** Blanks and the like are written in octal there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
