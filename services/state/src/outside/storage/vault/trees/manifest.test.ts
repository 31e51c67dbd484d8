import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { entriesOf, readManifest } from './manifest.ts';

const ENTRIES = Array.from({ length: 20_000 }, (_, at) => ({
  path: at === 0 ? '.' : `a folder/${at}`,
  type: at === 0 ? 'folder' : 'file',
  mode: '644',
  uid: 0,
  gid: 0,
  mtimeNs: `${at}`,
}));
const TEXT = ENTRIES.map((entry) => `${JSON.stringify(entry)}\n`).join('');

let file: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'croft-manifest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  file = join(folder, 'manifest');
});

describe('a list of files', () => {
  it.each([
    ['compressed', gzipSync(TEXT)],
    ['as an earlier version stored it', Buffer.from(TEXT)],
  ])('is read: %s', async (_what, bytes) => {
    writeFileSync(file, bytes);
    expect(await entriesOf(file)).toEqual(ENTRIES);
  });

  it('that ends too soon is damaged, and no shorter list', async () => {
    writeFileSync(file, gzipSync(TEXT));
    truncateSync(file, Math.floor(readFileSync(file).length / 2));
    await expect(entriesOf(file)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  it.each([
    ['in the middle of a line', Buffer.from(TEXT.slice(0, 1_000_010))],
    ['before its first line', Buffer.alloc(0)],
    ['of which the beginning is missing', Buffer.from(TEXT.slice(TEXT.indexOf('\n') + 1))],
  ])('that is stored as it is and ends %s is damaged, too', async (_what, bytes) => {
    writeFileSync(file, bytes);
    await expect(entriesOf(file)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  it('with a byte changed is damaged', async () => {
    const bytes = gzipSync(TEXT);
    const middle = Math.floor(bytes.length / 2);
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    writeFileSync(file, bytes);
    await expect(entriesOf(file)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  it('that is missing says so to its reader alone', async () => {
    expect(existsSync(file)).toBe(false);
    await expect(entriesOf(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('can be left in the middle', async () => {
    writeFileSync(file, gzipSync(TEXT));
    for await (const entries of readManifest(file)) {
      expect(entries.length).toBeGreaterThan(0);
      break;
    }
  });
});
