import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLog } from './log.ts';

it.runIf(existsSync('/dev/full'))(
  'a log on a full disk is nobody else’s trouble, and keeps no lines for ever',
  async () => {
    const log = createLog({ level: 'info', file: '/dev/full' });
    const before = process.memoryUsage().heapUsed;
    for (let line = 0; line < 20_000; line++)
      expect(() => log.warn({ line, text: 'x'.repeat(1000) }, 'a long line')).not.toThrow();
    expect(() => log.child({ service: 'auth' }).error({}, 'another one')).not.toThrow();
    // What would be thrown later ends the test as well.
    await sleep(50);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(15_000_000);
  },
);
