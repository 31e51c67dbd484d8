import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { expect, it } from 'vitest';
import { readLines } from '../src/backup/read-lines.ts';

// A file is read 64 KB at a time.
const LONG = 'ü\u2028'.repeat(100_000);

it.each([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\nb', ['a', '', 'b']],
  ['a\u2028b\u2029c\u0085d\re\n', ['a\u2028b\u2029c\u0085d\re']],
  [`${LONG}\n${LONG}\n`, [LONG, LONG]],
  [`${'x'.repeat(65_535)}\n${'y'.repeat(65_536)}\nz`, ['x'.repeat(65_535), 'y'.repeat(65_536), 'z']],
])('a line ends at a line feed and nowhere else (%#)', async (text, lines) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'lines');
  await writeFile(path, text);
  await using file = await open(path);
  const read: string[] = [];
  for await (const line of readLines(file)) read.push(line);
  expect(read).toEqual(lines);
});
