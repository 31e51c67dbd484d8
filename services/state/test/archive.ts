import { createHash } from 'node:crypto';
import { END, paddingOf, tarHeader } from '../src/outside/storage/transfer/tar.ts';

/** An archive taken apart: names and contents, in their order. */
export type Files = [name: string, content: Buffer][];

/** Takes an archive apart, with nothing of the code that is tested. */
export function unpack(archive: Buffer): Files {
  const files: Files = [];
  for (let at = 0; archive[at] !== 0; ) {
    const name = archive.toString('latin1', at, archive.indexOf(0, at));
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    files.push([name, archive.subarray(at + 512, at + 512 + size)]);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** Puts one together. */
export function pack(files: Files): Buffer {
  const parts = files.flatMap(([name, content]) => [
    tarHeader(name, content.length),
    content,
    Buffer.alloc(paddingOf(content.length)),
  ]);
  return Buffer.concat([...parts, END]);
}

export const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');

/** An entry as a hostile manifest may have it. */
export type AnyEntry = Record<string, unknown>;

const folder = { path: '.', type: 'folder', mode: '755', uid: 0, gid: 0, mtimeNs: '0' };

/** A file with this content. */
export function fileEntry(path: string, content: string, more: AnyEntry = {}): AnyEntry {
  const facts = { mode: '644', uid: 0, gid: 0, mtimeNs: '0' };
  return { path, type: 'file', ...facts, size: Buffer.byteLength(content), hash: sha256(content), ...more };
}

/** An archive of one state with these entries, whose lists and hashes are right whatever they say. */
export function archiveOf(
  entries: readonly AnyEntry[] | string,
  contents: readonly string[] = [],
  state: AnyEntry | ((member: AnyEntry) => AnyEntry) = {},
): Buffer {
  const text =
    typeof entries === 'string'
      ? entries
      : [folder, ...entries].map((entry) => `${JSON.stringify(entry)}\n`).join('');
  const manifest = Buffer.from(text);
  const counts = { entries: 1, bytes: 0, unreadable: 0, torn: 0 };
  const member = { dataset: 'system', role: 'system', path: '/etc', snapshot: sha256(manifest), ...counts };
  const header = {
    format: 1,
    driver: 'vault',
    states: [
      {
        id: 'there',
        kind: 'system',
        machine: 'vault:/etc',
        name: 'foreign',
        description: '',
        kernel: '',
        oneInstant: false,
        createdAt: '2026-01-02T03:04:05.000Z',
        members: [member],
        ...(typeof state === 'function' ? state(member) : state),
      },
    ],
  };
  return pack([
    ['croft-state.json', Buffer.from(JSON.stringify(header))],
    [`manifests/${sha256(manifest)}`, manifest],
    ...contents.map((content): Files[number] => [`objects/${sha256(content)}`, Buffer.from(content)]),
  ]);
}
