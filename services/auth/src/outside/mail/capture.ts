import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction, type Clock, type Log } from '@croft/runtime';
import { messageOf } from './message.ts';
import type { Mailer, Sender } from './outgoing.ts';

/** Writes each mail to `<dataFolder>/mail/<timestamp>-<id>.eml` and names the file in the log: first runs and tests. */
export function captureMailer(sender: Sender, dataFolder: string, log: Log, clock: Clock): Mailer {
  const folder = join(dataFolder, 'mail');
  return {
    async send(mail, signal) {
      assertOutsideTransaction('a mail');
      signal.throwIfAborted();
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true });
      const { message } = await composer.sendMail(messageOf(mail, sender));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const name = `${clock.now().toISOString().replaceAll(/[-:.]/g, '')}-${mail.id}.eml`;
      const file = join(folder, name);
      // Whoever watches the folder for `.eml` never sees half a mail.
      const unfinished = join(folder, `.${name}.tmp`);
      await writeFile(unfinished, message as Buffer, { mode: 0o600 });
      await rename(unfinished, file);
      log.info({ file }, 'a mail was captured');
    },
    close: async () => {},
  };
}
