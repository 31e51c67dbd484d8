import { expect, it } from 'vitest';
import { Inventory, MAX_ENTRIES, ReceivedManifest } from './received-manifest.ts';

const folder = { path: '.', type: 'folder', mode: '755', uid: 0, gid: 0, mtimeNs: '0' };
const bytesOf = (...paths: string[]) =>
  Buffer.from(paths.map((path) => `${JSON.stringify({ ...folder, path })}\n`).join(''));

it('the lists of an import have one number of entries between them', () => {
  const inventory = new Inventory();
  for (let at = 0; at < MAX_ENTRIES - 3; at++) inventory.countEntry();
  new ReceivedManifest(inventory).add(bytesOf('.', 'a'));
  const second = new ReceivedManifest(inventory);
  second.add(bytesOf('.'));
  expect(() => second.add(bytesOf('a'))).toThrow(`more than ${MAX_ENTRIES} entries`);
});

it('folders are left and not entered again, and the longest paths of a save are taken', () => {
  const manifest = new ReceivedManifest(new Inventory());
  const deep = Array.from({ length: 14 }, (_, at) => `a${`/${'x'.repeat(249)}`.repeat(at + 1)}`);
  const last = `${deep.at(-2)}/${'y'.repeat(255)}`;
  manifest.add(bytesOf('.', 'a', ...deep, last, 'b', 'b/c', 'b/c/d', 'b/e', 'f'));
  manifest.end();
  expect(manifest.counted.entries).toBe(22);
  expect(() => manifest.add(bytesOf('b/x'))).toThrow('not where it may be');
});

it('a content takes room once for each file that has it, and only what is no hole', () => {
  const inventory = new Inventory();
  const manifest = new ReceivedManifest(inventory);
  const file = { ...folder, type: 'file', hash: 'a'.repeat(64), size: 1_000_000, sparse: true };
  const entries = [
    folder,
    { ...file, path: 'a', inode: '1' },
    { ...file, path: 'b', inode: '1' },
    { ...file, path: 'c' },
  ];
  manifest.add(Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')));
  expect(inventory.wanted.get(file.hash)).toMatchObject({ files: 2, sparse: true });
  expect(inventory.storedOf(file.hash)).toBe(0);
  inventory.addStored(file.hash, 262_144);
  expect(inventory.storedOf(file.hash)).toBe(262_144);
  // One that says that it has no holes is believed.
  const plain = { ...file, path: 'd', sparse: undefined };
  manifest.add(Buffer.from(`${JSON.stringify(plain)}\n`));
  expect(inventory.storedOf(file.hash)).toBe(1_000_000);
});
