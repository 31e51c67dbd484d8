import { closeSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFile } from '../src/client/commands/new-file.ts';
import { FileTrouble } from '../src/client/file-trouble.ts';
import { temporaryFolder } from './daemon.ts';

it('a file that cannot be closed, as on a disk that is full only then, was not written, and is told as one', async () => {
  const name = join(temporaryFolder(), 'file');
  const writing = newFile(name, async ({ fd }) => closeSync(fd));
  await expect(writing).rejects.toThrow(
    new FileTrouble(`${name} could not be written: EBADF: bad file descriptor, close`),
  );
  expect(existsSync(name)).toBe(false);
});

it('is not written by who is told to end before it is there', async () => {
  const name = join(temporaryFolder(), 'file');
  let isBegun = false;
  const writing = newFile(name, async () => {
    isBegun = true;
  });
  process.emit('SIGINT', 'SIGINT');
  await expect(writing).rejects.toMatchObject({
    message: `interrupted: ${name} was not written`,
    exitCode: 130,
  });
  expect([existsSync(name), isBegun]).toEqual([false, false]);
});
