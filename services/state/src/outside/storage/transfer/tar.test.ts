import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BLOCK, paddingOf, readPaxSize, readTarHeader, tarHeader } from './tar.ts';

const name = `objects/${'a'.repeat(64)}`;
const blockOf = (bytes: Buffer, at: number) => bytes.subarray(at * BLOCK, (at + 1) * BLOCK);

/** What GNU tar lists of a header whose content is not there. */
function listed(header: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'croft-tar-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'x.tar'), header);
  const words = ['--list', '--verbose', '--numeric-owner', '--file', join(folder, 'x.tar')];
  return spawnSync('tar', words, { env: { LC_ALL: 'C', TZ: 'UTC' } }).stdout.toString();
}

describe('a header', () => {
  it.each([0, 1, 511, 512, 8 ** 11 - 1])('of %d bytes is read back, and by tar', (size) => {
    const header = tarHeader(name, size);
    expect(header).toHaveLength(BLOCK);
    expect(readTarHeader(header)).toEqual({ kind: 'file', name, size });
    expect(listed(header)).toMatch(new RegExp(`^-rw------- 0/0 +${size} 1970-01-01 00:00 ${name}$`, 'm'));
  });

  it.each([8 ** 11, 2 ** 40, 10 ** 10, Number.MAX_SAFE_INTEGER])(
    'of %d bytes has its size in a record of its own',
    (size) => {
      const header = tarHeader(name, size);
      expect(header).toHaveLength(3 * BLOCK);
      const first = readTarHeader(blockOf(header, 0));
      expect(first.kind).toBe('pax');
      const record = blockOf(header, 1).subarray(0, first.kind === 'pax' ? first.size : 0);
      expect(readPaxSize(record)).toBe(size);
      expect(readTarHeader(blockOf(header, 2))).toEqual({ kind: 'file', name, size: 0 });
      expect(listed(header)).toMatch(new RegExp(` ${size} 1970-01-01 00:00 ${name}$`, 'm'));
    },
  );

  it('that is changed in any byte is refused', () => {
    const header = tarHeader(name, 12_345);
    const accepted = Array.from(header, (byte, at) => {
      const changed = Buffer.from(header);
      changed[at] = byte ^ 0x11;
      try {
        readTarHeader(changed);
        return at;
      } catch (error) {
        return (error as { code?: string }).code;
      }
    });
    expect(new Set(accepted)).toEqual(new Set(['bad_import']));
  });
});

it('padding fills the last block', () => {
  expect([0, 1, 511, 512, 513].map(paddingOf)).toEqual([0, 511, 1, 0, 511]);
});
