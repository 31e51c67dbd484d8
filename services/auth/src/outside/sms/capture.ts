import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction, type Clock, type Log } from '@croft/runtime';
import type { SmsSender } from './outgoing.ts';

/** Writes each message to `<dataFolder>/sms/<timestamp>-<count>-<id>.txt` and names the file in the log: first runs and tests. */
export function captureSms(dataFolder: string, log: Log, clock: Clock): SmsSender {
  const folder = join(dataFolder, 'sms');
  // Keeps messages of one millisecond in their order.
  let count = 0;
  return {
    async send(sms, signal) {
      assertOutsideTransaction('an SMS');
      signal.throwIfAborted();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      count += 1;
      const at = clock.now().toISOString().replaceAll(/[-:.]/g, '');
      const name = `${at}-${String(count).padStart(6, '0')}-${sms.id}.txt`;
      const file = join(folder, name);
      // Whoever watches the folder for `.txt` never sees half a message.
      const unfinished = join(folder, `.${name}.tmp`);
      await writeFile(
        unfinished,
        `${sms.text}

To: +${sms.phone}
Channel: ${sms.channel}
`,
        {
          mode: 0o600,
        },
      );
      await rename(unfinished, file);
      log.info({ file }, 'an SMS was captured');
    },
  };
}
