import type { OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import { type SmsSender, smsFailure } from './outgoing.ts';

/** An account at Textlocal. */
export interface TextlocalAccount {
  baseUrl: string;
  apiKey: string;
  sender: string;
}

const outcome = z.object({
  status: z.string(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).default([]),
});

/** Every message must match a template that was registered with Textlocal. */
const INVALID_TEMPLATE = 80;
/** Refusals of this very message: no text, too long, no valid number, no matching template. */
const FINAL = new Set([5, 6, 51, INVALID_TEMPLATE]);

/** Sends with Textlocal. */
export function textlocal(account: TextlocalAccount, http: OutgoingHttp): SmsSender {
  return {
    async send(sms, signal) {
      const { sender, apiKey: apikey } = account;
      const form = { sender, apikey, message: sms.text, numbers: sms.phone };
      const answer = await http(`${account.baseUrl}/send`, { form }, signal);
      const result = outcome.safeParse(answer.json());
      if (!result.success) throw smsFailure('Textlocal', `status ${answer.status}`, false);
      const { status, errors } = result.data;
      if (status === 'success') return;
      const [error] = errors;
      if (error === undefined) throw smsFailure('Textlocal', `status ${status}`, false);
      const hint = error.code === INVALID_TEMPLATE ? ': SMS_TEMPLATE must match a registered template' : '';
      throw smsFailure('Textlocal', `${error.message} (${error.code})${hint}`, FINAL.has(error.code));
    },
  };
}
