import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createLog } from './log.ts';

it.runIf(existsSync('/dev/full'))(
  'a log on a full disk is nobody else’s trouble, and keeps no lines for ever',
  async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const log = createLog({ level: 'info', file: '/dev/full' });
    const before = process.memoryUsage().heapUsed;
    for (let line = 0; line < 300; line++)
      expect(() => log.warn({ text: 'x'.repeat(500_000) }, `long line ${line}`)).not.toThrow();
    expect(() => log.child({ service: 'auth' }).error({}, 'another one')).not.toThrow();
    // What would be thrown later ends the test as well.
    await sleep(50);
    const told = stderr.mock.calls.map(([text]) => String(text));
    stderr.mockRestore();
    expect(told).toEqual([expect.stringMatching(/^The log \/dev\/full cannot be written: ENOSPC/)]);
    // All of them would be 150 million.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(75_000_000);
  },
);
