import type { OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import { type SmsSender, smsFailure } from './outgoing.ts';

/** An account at MessageBird. */
export interface MessageBirdAccount {
  baseUrl: string;
  accessKey: string;
  /** A number with `+`, or a name. */
  originator: string;
}

const accepted = z.object({ recipients: z.object({ totalSentCount: z.number() }) });
const refused = z.object({ errors: z.array(z.object({ code: z.number(), description: z.string() })).min(1) });

/** Sends with MessageBird. */
export function messageBird(account: MessageBirdAccount, http: OutgoingHttp): SmsSender {
  return {
    async send(sms, signal) {
      const answer = await http(
        `${account.baseUrl}/messages`,
        {
          headers: { authorization: `AccessKey ${account.accessKey}` },
          form: {
            originator: account.originator,
            body: sms.text,
            recipients: sms.phone,
            type: 'sms',
            datacoding: 'unicode',
          },
        },
        signal,
      );
      const refusal = refused.safeParse(answer.json());
      if (refusal.success) {
        const reasons = refusal.data.errors.map(({ description, code }) => `${description} (${code})`);
        // 422 is about the message; a refused key (401) or permission (403) can be mended.
        throw smsFailure('MessageBird', reasons.join(', '), answer.status === 400 || answer.status === 422);
      }
      const message = accepted.safeParse(answer.json());
      if (!message.success) throw smsFailure('MessageBird', `status ${answer.status}`, false);
      if (message.data.recipients.totalSentCount === 0) {
        throw smsFailure('MessageBird', 'it was sent to no recipient', false);
      }
    },
  };
}
