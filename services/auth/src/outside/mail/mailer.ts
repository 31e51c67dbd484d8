import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { Clock, Log } from '@croft/runtime';
import { StartError } from '@croft/runtime';
import type { AuthSettings } from '../../settings.ts';
import { captureMailer } from './capture.ts';
import { checkHeaders } from './message.ts';
import type { Mailer } from './outgoing.ts';
import { smtpMailer } from './smtp.ts';

/**
 * The mailer the settings ask for: a mail server, or files in the data folder.
 * @throws StartError when a mail server has no address to send from, or another setting of it cannot be used
 */
export function chooseMailer(settings: AuthSettings, dataFolder: string, log: Log, clock: Clock): Mailer {
  const { SMTP_HOST, SMTP_ADMIN_EMAIL, SMTP_SENDER_NAME } = settings;
  const headers = settings.SMTP_HEADERS ?? {};
  checkHeaders(headers);
  if (SMTP_HOST === undefined) {
    const address = SMTP_ADMIN_EMAIL ?? 'auth@localhost';
    return captureMailer({ name: SMTP_SENDER_NAME ?? address, address, headers }, dataFolder, log, clock);
  }
  if (SMTP_ADMIN_EMAIL === undefined) {
    throw new StartError(
      'AUTHSVC_SMTP_ADMIN_EMAIL is required with AUTHSVC_SMTP_HOST: mails need an address to come from.',
    );
  }
  const sender = { name: SMTP_SENDER_NAME ?? SMTP_ADMIN_EMAIL, address: SMTP_ADMIN_EMAIL, headers };
  const server = {
    host: SMTP_HOST,
    port: settings.SMTP_PORT,
    user: settings.SMTP_USER,
    password: settings.SMTP_PASS,
    encryption: settings.SMTP_TLS,
    trusted: trustedCertificates(settings.SMTP_TLS_CA_FILE),
  };
  return smtpMailer(sender, server, settings.SMTP_LOGGING_ENABLED ? log : undefined);
}

/** A file of one's own adds to the usual certificates; Node would take it in their place. */
function trustedCertificates(file: string | undefined): readonly string[] | undefined {
  if (file === undefined) return undefined;
  let own: string;
  try {
    own = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`AUTHSVC_SMTP_TLS_CA_FILE cannot be read: ${(error as Error).message}`);
  }
  if (!own.includes('-----BEGIN CERTIFICATE-----')) {
    throw new StartError(`AUTHSVC_SMTP_TLS_CA_FILE has no certificates: ${file}`);
  }
  return [...getCACertificates('default'), own];
}
