import type { OutgoingAnswer, OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import { type OutgoingSms, type SmsSender, smsFailure } from './outgoing.ts';

/** An account at Twilio and what its messages come from. */
export interface TwilioAccount {
  baseUrl: string;
  accountSid: string;
  authToken: string;
  /** A messaging service (`MG…`) or a number. */
  sender: string;
  /** Template for WhatsApp, whose first variable is the code. */
  contentSid: string | undefined;
}

const message = z.object({ status: z.string() });
const failed = z.object({ code: z.number(), message: z.string(), more_info: z.string().optional() });

/** Sends with Twilio's Programmable Messaging. */
export function twilio(account: TwilioAccount, http: OutgoingHttp): SmsSender {
  const { baseUrl, accountSid: user, authToken: password } = account;
  const url = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(user)}/Messages.json`;
  return {
    async send(sms, signal) {
      const answer = await http(url, { form: messageForm(account, sms), basic: { user, password } }, signal);
      if (answer.status !== 200 && answer.status !== 201) throw twilioFailure('Twilio', answer);
      const sent = message.safeParse(answer.json());
      if (!sent.success) throw smsFailure('Twilio', 'the answer cannot be read', false);
      const { status } = sent.data;
      if (status === 'failed' || status === 'undelivered')
        throw smsFailure('Twilio', `the message is ${status}`, false);
    },
  };
}

function messageForm(account: TwilioAccount, sms: OutgoingSms): Record<string, string> {
  const { sender, contentSid } = account;
  if (sms.channel === 'sms') return { To: `+${sms.phone}`, Channel: 'sms', From: sender, Body: sms.text };
  const addresses = {
    To: `whatsapp:+${sms.phone}`,
    Channel: 'whatsapp',
    // A messaging service knows its own WhatsApp sender.
    From: /^\+?[1-9]\d{1,14}$/.test(sender) ? `whatsapp:${sender}` : sender,
  };
  if (contentSid === undefined) return { ...addresses, Body: sms.text };
  return { ...addresses, ContentSid: contentSid, ContentVariables: `{"1": ${JSON.stringify(sms.code)}}` };
}

/** A refusal in Twilio's own shape. A bad request stays one; login, permission and limits can be mended. */
export function twilioFailure(product: string, answer: OutgoingAnswer): Error {
  const refusal = failed.safeParse(answer.json());
  if (!refusal.success) return smsFailure(product, `status ${answer.status}`, false);
  const { code, message: text, more_info: more } = refusal.data;
  const reason = `${text} (${code})${more === undefined ? '' : ` More information: ${more}`}`;
  return smsFailure(product, reason, answer.status === 400);
}
