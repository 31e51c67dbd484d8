import { basicOf, type FormAnswer, type FormRequest, type FormServer, formServer } from './form-server.ts';

/** A message a provider took. */
export interface TakenSms {
  /** As the provider was told. */
  to: string;
  from: string;
  text: string;
  /** Everything else in the form. */
  rest: Record<string, string>;
}

/** An SMS provider on loopback that refuses whatever its API would refuse, in its own words. */
export interface SmsEmulator extends FormServer {
  readonly taken: readonly TakenSms[];
  /** The settings that point the service at it. */
  readonly environment: Record<string, string>;
}

export type SmsProviderName = 'twilio' | 'twilio_verify' | 'messagebird' | 'textlocal' | 'vonage';

/** The code Twilio Verify sends, which nobody but Twilio makes. */
export const TWILIO_CODE = '424242';

interface Definition {
  environment: Record<string, string>;
  decide(request: FormRequest, take: (sms: TakenSms) => void): FormAnswer;
}

const DIGITS = /^[1-9]\d{1,14}$/;

function takenFrom(form: URLSearchParams, names: { to: string; from: string; text: string }): TakenSms {
  const { to, from, text } = names;
  const rest = Object.fromEntries([...form].filter(([name]) => ![to, from, text].includes(name)));
  return { to: form.get(to) ?? '', from: form.get(from) ?? '', text: form.get(text) ?? '', rest };
}

const twilioError = (status: number, code: number, message: string): FormAnswer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

const definitions: Readonly<Record<SmsProviderName, () => Definition>> = {
  twilio: () => ({
    environment: {
      AUTHSVC_SMS_TWILIO_ACCOUNT_SID: 'AC0123',
      AUTHSVC_SMS_TWILIO_AUTH_TOKEN: 'twilio-token',
      AUTHSVC_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG0123',
    },
    decide(request, take) {
      if (request.method !== 'POST' || request.path !== '/2010-04-01/Accounts/AC0123/Messages.json') {
        return twilioError(404, 20404, 'The requested resource was not found');
      }
      if (basicOf(request) !== 'AC0123:twilio-token') return twilioError(401, 20003, 'Authenticate');
      const sms = takenFrom(request.form ?? new URLSearchParams(), { to: 'To', from: 'From', text: 'Body' });
      const number = /^(?:whatsapp:)?\+(\d+)$/.exec(sms.to)?.[1] ?? '';
      if (!DIGITS.test(number)) return twilioError(400, 21211, `Invalid 'To' Phone Number: ${sms.to}`);
      if (sms.from === '') return twilioError(400, 21603, "A 'From' phone number is required.");
      if (sms.text === '' && sms.rest['ContentSid'] === undefined) {
        return twilioError(400, 21602, 'Message body is required.');
      }
      take(sms);
      return { status: 201, body: { sid: 'SM0123', status: 'queued', error_code: null, to: sms.to } };
    },
  }),
  twilio_verify() {
    const open = new Map<string, number>();
    return {
      environment: {
        AUTHSVC_SMS_TWILIO_VERIFY_ACCOUNT_SID: 'AC4567',
        AUTHSVC_SMS_TWILIO_VERIFY_AUTH_TOKEN: 'verify-token',
        AUTHSVC_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: 'VA4567',
      },
      decide(request, take) {
        if (basicOf(request) !== 'AC4567:verify-token') return twilioError(401, 20003, 'Authenticate');
        const to = request.form?.get('To') ?? '';
        if (!/^\+[1-9]\d{1,14}$/.test(to)) return twilioError(400, 60200, 'Invalid parameter `To`');
        const call = `${request.method} ${request.path}`;
        if (call === 'POST /v2/Services/VA4567/Verifications') {
          const channel = request.form?.get('Channel') ?? '';
          if (!['sms', 'whatsapp'].includes(channel))
            return twilioError(400, 60200, 'Invalid parameter `Channel`');
          open.set(to, 0);
          take({ to, from: '', text: '', rest: { Channel: channel } });
          return { status: 201, body: { sid: 'VE4567', status: 'pending', valid: false, to, channel } };
        }
        if (call !== 'POST /v2/Services/VA4567/VerificationCheck')
          return twilioError(404, 20404, 'not found');
        const checks = open.get(to);
        if (checks === undefined) return twilioError(404, 20404, 'The requested resource was not found');
        if (checks === 5) return twilioError(429, 60202, 'Max check attempts reached');
        open.set(to, checks + 1);
        const approved = request.form?.get('Code') === TWILIO_CODE;
        if (approved) open.delete(to);
        const status = approved ? 'approved' : 'pending';
        return { status: 200, body: { sid: 'VE4567', status, valid: approved, to } };
      },
    };
  },
  messagebird: () => ({
    environment: {
      AUTHSVC_SMS_MESSAGEBIRD_ACCESS_KEY: 'bird-key',
      AUTHSVC_SMS_MESSAGEBIRD_ORIGINATOR: 'Croft',
    },
    decide(request, take) {
      const refuse = (status: number, code: number, description: string, parameter: string): FormAnswer => ({
        status,
        body: { errors: [{ code, description, parameter }] },
      });
      if (request.method !== 'POST' || request.path !== '/messages') return refuse(404, 20, 'not found', '');
      if (request.headers.authorization !== 'AccessKey bird-key') {
        return refuse(401, 2, 'Request not allowed (incorrect access_key)', 'access_key');
      }
      const names = { to: 'recipients', from: 'originator', text: 'body' };
      const sms = takenFrom(request.form ?? new URLSearchParams(), names);
      if (!DIGITS.test(sms.to)) return refuse(422, 9, 'no (correct) recipients found', 'recipients');
      if (sms.from === '') return refuse(422, 9, 'originator is required', 'originator');
      if (sms.text === '') return refuse(422, 9, 'body is required', 'body');
      take(sms);
      const recipients = { totalCount: 1, totalSentCount: 1, totalDeliveredCount: 0, items: [] };
      return { status: 201, body: { id: 'mb0123', recipients } };
    },
  }),
  textlocal: () => ({
    environment: {
      AUTHSVC_SMS_TEXTLOCAL_API_KEY: 'textlocal-key',
      AUTHSVC_SMS_TEXTLOCAL_SENDER: 'CROFTX',
    },
    decide(request, take) {
      const refuse = (code: number, message: string): FormAnswer => ({
        status: 200,
        body: { status: 'failure', errors: [{ code, message }] },
      });
      if (request.method !== 'POST' || request.path !== '/send') return { status: 404, body: 'Not Found' };
      const names = { to: 'numbers', from: 'sender', text: 'message' };
      const sms = takenFrom(request.form ?? new URLSearchParams(), names);
      if (sms.rest['apikey'] !== 'textlocal-key') return refuse(3, 'Invalid login details');
      if (sms.text === '') return refuse(5, 'No message content');
      if (!DIGITS.test(sms.to)) return refuse(51, 'No valid numbers specified');
      if (sms.from === '') return refuse(44, 'No sender name specified');
      take(sms);
      return { status: 200, body: { status: 'success', num_messages: 1, messages: [{ id: 'tl0123' }] } };
    },
  }),
  vonage: () => ({
    environment: {
      AUTHSVC_SMS_VONAGE_API_KEY: 'vonage-key',
      AUTHSVC_SMS_VONAGE_API_SECRET: 'vonage-secret',
      AUTHSVC_SMS_VONAGE_FROM: 'Croft',
    },
    decide(request, take) {
      const answer = (status: string, text?: string): FormAnswer => ({
        status: 200,
        body: {
          'message-count': '1',
          messages: [
            { status, ...(text === undefined ? { 'message-id': 'vo0123' } : { 'error-text': text }) },
          ],
        },
      });
      if (request.method !== 'POST' || request.path !== '/sms/json')
        return { status: 404, body: 'Not Found' };
      const sms = takenFrom(request.form ?? new URLSearchParams(), { to: 'to', from: 'from', text: 'text' });
      if (sms.rest['api_key'] !== 'vonage-key' || sms.rest['api_secret'] !== 'vonage-secret') {
        return answer('4', 'Bad Credentials');
      }
      if (sms.from === '' || sms.text === '') return answer('2', 'Missing from or text param');
      if (!DIGITS.test(sms.to)) return answer('3', 'Invalid value for param: to');
      take(sms);
      return answer('0');
    },
  }),
};

/** Starts a provider. */
export async function smsEmulator(name: SmsProviderName): Promise<SmsEmulator> {
  const definition = definitions[name]();
  const taken: TakenSms[] = [];
  const server = await formServer((request) => definition.decide(request, (sms) => taken.push(sms)));
  return {
    ...server,
    taken,
    environment: {
      AUTHSVC_SMS_PROVIDER: name,
      AUTHSVC_SMS_URL: server.url,
      AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
      ...definition.environment,
    },
  };
}
