import type { Deliver } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import type { Mailer } from '../outside/mail/outgoing.ts';
import { openTemplates } from '../outside/mail/templates.ts';
import type { SmsSender } from '../outside/sms/outgoing.ts';
import { creationEffect } from './creation.ts';
import { mailEffect } from './mail.ts';
import { smsEffect } from './sms.ts';

/** What happens to the rows of each outbox topic after they are committed. */
export function effectHandlers(
  context: AuthContext,
  senders: { mailer: Mailer; sms: SmsSender },
): Readonly<Record<string, Deliver>> {
  const { atRest, settings, outside, log, clock, database } = context;
  const { hooks } = outside;
  return {
    mail: mailEffect({
      atRest,
      templates: openTemplates(settings, outside.http, log, clock),
      mailer: senders.mailer,
      settings,
      clock,
      database,
      hook: hooks.send_email,
    }),
    sms: smsEffect({
      atRest,
      sms: senders.sms,
      template: settings.SMS_TEMPLATE,
      factorTemplate: settings.MFA_PHONE_TEMPLATE,
      clock,
      database,
      hook: hooks.send_sms,
      makesCodes: outside.verifySms !== undefined,
    }),
    user_created: creationEffect(database, hooks.after_user_created),
  };
}
