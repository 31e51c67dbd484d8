import { readFile } from 'node:fs/promises';

/** One line of the kernel's list of mounts. */
export interface Mount {
  /** Of this mount, as `fdinfo` of an open file has it. */
  readonly id: string;
  /** Of the file system, `0:41`: equal for all mounts of one. */
  readonly device: string;
  /** The folder of the file system that is shown, `/@home`. */
  readonly root: string;
  /** Where it is shown. */
  readonly path: string;
  readonly type: string;
  /** The device or name that was mounted. */
  readonly source: string;
  /** This mount, or the whole file system, takes no writes. */
  readonly readOnly: boolean;
}

const OWN = new Set(
  'ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs tmpfs devtmpfs ramfs overlay squashfs erofs iso9660 udf vfat exfat ntfs3 proc sysfs'.split(
    ' ',
  ),
);

/** On a disk or in memory: the kernel itself answers. All others may have a server or a program that does not answer any more. */
export function isOwnType(type: string): boolean {
  return OWN.has(type);
}

/** The mounts that this process sees, in the order they were made. Empty where there is no such list. */
export async function readMounts(): Promise<readonly Mount[]> {
  return parseMounts(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''));
}

/** Reads what `/proc/self/mountinfo` holds; a line that makes no sense is left out. */
export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const [id = '', , device, root, path, options] = fields;
    const [type, source, ofAll] = fields.slice(fields.indexOf('-') + 1);
    if (device === undefined || root === undefined || path === undefined || source === undefined) return [];
    const readOnly = [options, ofAll].some((each) => each?.split(',').includes('ro'));
    return [
      {
        id,
        device,
        root: unescaped(root),
        path: unescaped(path),
        type: type ?? '',
        source: unescaped(source),
        readOnly,
      },
    ];
  });
}

/** The mount that shows a path; of several at one place the last lies on top. @param path without links */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts
    .filter((mount) => isBelow(path, mount.path))
    .reduce<Mount | undefined>(
      (best, mount) => (best !== undefined && best.path.length > mount.path.length ? best : mount),
      undefined,
    );
}

/** A path is a folder, or lies in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Blanks and the like are written in octal there, byte by byte. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes = Buffer.from(text)
    .toString('latin1')
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
