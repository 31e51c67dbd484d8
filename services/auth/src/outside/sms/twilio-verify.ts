import type { OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import type { SmsSender } from './outgoing.ts';
import { twilioFailure } from './twilio.ts';

/** An account at Twilio with a Verify service. */
export interface TwilioVerifyAccount {
  baseUrl: string;
  accountSid: string;
  authToken: string;
  /** The Verify service (`VA…`). */
  service: string;
}

const verdict = z.object({ status: z.string(), valid: z.boolean() });

/** Answers that mean the code, not the account: it is malformed, its verification is gone, or it was tried too often. */
const NOT_THE_CODE = new Set([400, 404, 429]);

/** Leaves making, sending and checking of codes to Twilio Verify. */
export function twilioVerify(account: TwilioVerifyAccount, http: OutgoingHttp): Required<SmsSender> {
  const { baseUrl, accountSid: user, authToken: password, service } = account;
  const url = `${baseUrl}/v2/Services/${encodeURIComponent(service)}`;
  const basic = { user, password };
  return {
    async send({ phone, channel }, signal) {
      const form = { To: `+${phone}`, Channel: channel };
      const answer = await http(`${url}/Verifications`, { form, basic }, signal);
      if (answer.status !== 200 && answer.status !== 201) throw twilioFailure('Twilio Verify', answer);
    },
    async verify(phone, code, signal) {
      const form = { To: `+${phone}`, Code: code };
      const answer = await http(`${url}/VerificationCheck`, { form, basic }, signal);
      if (NOT_THE_CODE.has(answer.status)) return false;
      if (answer.status !== 200 && answer.status !== 201) throw twilioFailure('Twilio Verify', answer);
      const checked = verdict.safeParse(answer.json());
      return checked.success && checked.data.valid && checked.data.status === 'approved';
    },
  };
}
