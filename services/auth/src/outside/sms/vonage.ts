import type { OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import { type SmsSender, smsFailure } from './outgoing.ts';

/** An account at Vonage. */
export interface VonageAccount {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  from: string;
}

const outcome = z.object({
  messages: z.array(z.object({ status: z.string(), 'error-text': z.string().optional() })).min(1),
});

/** Refusals of this very message: invalid parameters, invalid message, barred number, too long, number not allowed. */
const FINAL = new Set(['3', '6', '7', '12', '29']);

/** Sends with Vonage's SMS API, which answers 200 to everything. */
export function vonage(account: VonageAccount, http: OutgoingHttp): SmsSender {
  return {
    async send(sms, signal) {
      const form = {
        from: account.from,
        to: sms.phone,
        text: sms.text,
        api_key: account.apiKey,
        api_secret: account.apiSecret,
        ...(/^[\x20-\x7e\s]*$/.test(sms.text) ? {} : { type: 'unicode' }),
      };
      const answer = await http(`${account.baseUrl}/sms/json`, { form }, signal);
      const result = outcome.safeParse(answer.json());
      if (!result.success) throw smsFailure('Vonage', `status ${answer.status}`, false);
      // A long text goes in several parts, each with its own outcome.
      const refused = result.data.messages.find(({ status }) => status !== '0');
      if (refused === undefined) return;
      const reason = `${refused['error-text'] ?? 'no reason was given'} (${refused.status})`;
      throw smsFailure('Vonage', reason, FINAL.has(refused.status));
    },
  };
}
