import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mountsBelow } from '../../foreign-mounts.ts';
import { QuickLook } from './quick-look.ts';

const OVERLAY = 0x794c7630;

it.runIf(process.platform === 'linux')(
  'asks without waiting where nothing is mounted, whatever name the tree has',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'croft-look-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync('/', join(folder, 'root'));
    // In a container the system's own folder is an overlay, of which nobody knows what answers.
    const isOwn = (await statfs('/')).type !== OVERLAY;
    for (const name of ['/', join(folder, 'root')]) {
      const look = await QuickLook.open(name, await mountsBelow(name));
      // `/proc` is mounted there.
      expect(look.isFor('.')).toBe(false);
      expect(look.isFor('usr/bin')).toBe(isOwn);
    }
    const proc = await QuickLook.open('/proc', await mountsBelow('/proc'));
    expect([proc.isFor('.'), proc.isFor('self')]).toEqual([false, false]);
  },
);
