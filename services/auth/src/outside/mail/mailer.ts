import type { Clock, Log } from '@croft/runtime';
import { StartError } from '@croft/runtime';
import type { AuthSettings } from '../../settings.ts';
import { captureMailer } from './capture.ts';
import type { Mailer } from './outgoing.ts';
import { smtpMailer } from './smtp.ts';

/**
 * The mailer the settings ask for: a mail server, or files in the data folder.
 * @throws StartError when a mail server has no address to send from
 */
export function chooseMailer(settings: AuthSettings, dataFolder: string, log: Log, clock: Clock): Mailer {
  const { SMTP_HOST, SMTP_ADMIN_EMAIL, SMTP_SENDER_NAME } = settings;
  if (SMTP_HOST === undefined) {
    const address = SMTP_ADMIN_EMAIL ?? 'auth@localhost';
    return captureMailer({ name: SMTP_SENDER_NAME ?? address, address }, dataFolder, log, clock);
  }
  if (SMTP_ADMIN_EMAIL === undefined) {
    throw new StartError(
      'AUTHSVC_SMTP_ADMIN_EMAIL is required with AUTHSVC_SMTP_HOST: mails need an address to come from.',
    );
  }
  const sender = { name: SMTP_SENDER_NAME ?? SMTP_ADMIN_EMAIL, address: SMTP_ADMIN_EMAIL };
  return smtpMailer(sender, {
    host: SMTP_HOST,
    port: settings.SMTP_PORT,
    user: settings.SMTP_USER,
    password: settings.SMTP_PASS,
  });
}
