import type { OutgoingHttp } from '@croft/http/outgoing';
import { type Clock, type Log, StartError } from '@croft/runtime';
import { Secret } from '@croft/settings';
import { problemOfSmsTemplate } from '../../rules/codes/sms-text.ts';
import type { AuthSettings } from '../../settings/index.ts';
import { withinRequest } from '../request-share.ts';
import { captureSms } from './capture.ts';
import { messageBird } from './messagebird.ts';
import type { SmsSender } from './outgoing.ts';
import { textlocal } from './textlocal.ts';
import { twilio } from './twilio.ts';
import { twilioVerify } from './twilio-verify.ts';
import { vonage } from './vonage.ts';

/**
 * What brings messages as the settings ask for it: a provider, or files in the data folder. Credentials are looked at
 * with the first message: a provider may be configured, half, while phones are disabled.
 * @throws StartError when the text of messages cannot be written
 */
export function openSms(
  settings: AuthSettings,
  http: OutgoingHttp,
  dataFolder: string,
  log: Log,
  clock: Clock,
): SmsSender {
  for (const name of ['SMS_TEMPLATE', 'MFA_PHONE_TEMPLATE'] as const) {
    const problem = problemOfSmsTemplate(settings[name]);
    if (problem !== undefined) throw new StartError(`AUTHSVC_${name} cannot be used: ${problem}.`);
  }
  const { SMS_PROVIDER: provider } = settings;
  if (provider === undefined) return captureSms(dataFolder, log, clock);
  let sender: SmsSender | undefined;
  return {
    async send(sms, signal) {
      sender ??= connect[provider](settings, inTime(settings.INTERNAL_HTTP_TIMEOUT, http));
      await sender.send(sms, signal);
    },
  };
}

/** Whether a code is right, said by the provider that made it; undefined where codes are our own. */
export function remoteVerification(settings: AuthSettings, http: OutgoingHttp): SmsSender['verify'] {
  if (settings.SMS_PROVIDER !== 'twilio_verify') return undefined;
  const timeoutMs = withinRequest(settings, settings.INTERNAL_HTTP_TIMEOUT);
  return async (phone, code, signal) =>
    await connectTwilioVerify(settings, inTime(timeoutMs, http)).verify(phone, code, signal);
}

function inTime(timeoutMs: number, http: OutgoingHttp): OutgoingHttp {
  return (url, request, signal) => http(url, { timeoutMs, ...request }, signal);
}

type Connect = (settings: AuthSettings, http: OutgoingHttp) => SmsSender;

const connectTwilioVerify = (settings: AuthSettings, http: OutgoingHttp): Required<SmsSender> =>
  twilioVerify(
    {
      baseUrl: settings.SMS_URL ?? 'https://verify.twilio.com',
      accountSid: given(settings, 'SMS_TWILIO_VERIFY_ACCOUNT_SID'),
      authToken: given(settings, 'SMS_TWILIO_VERIFY_AUTH_TOKEN'),
      service: given(settings, 'SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID'),
    },
    http,
  );

const connect: Readonly<Record<NonNullable<AuthSettings['SMS_PROVIDER']>, Connect>> = {
  twilio: (settings, http) =>
    twilio(
      {
        baseUrl: settings.SMS_URL ?? 'https://api.twilio.com',
        accountSid: given(settings, 'SMS_TWILIO_ACCOUNT_SID'),
        authToken: given(settings, 'SMS_TWILIO_AUTH_TOKEN'),
        sender: given(settings, 'SMS_TWILIO_MESSAGE_SERVICE_SID'),
        contentSid: settings.SMS_TWILIO_CONTENT_SID,
      },
      http,
    ),
  twilio_verify: connectTwilioVerify,
  messagebird: (settings, http) =>
    messageBird(
      {
        baseUrl: settings.SMS_URL ?? 'https://rest.messagebird.com',
        accessKey: given(settings, 'SMS_MESSAGEBIRD_ACCESS_KEY'),
        originator: given(settings, 'SMS_MESSAGEBIRD_ORIGINATOR'),
      },
      http,
    ),
  textlocal: (settings, http) =>
    textlocal(
      {
        baseUrl: settings.SMS_URL ?? 'https://api.textlocal.in',
        apiKey: given(settings, 'SMS_TEXTLOCAL_API_KEY'),
        sender: given(settings, 'SMS_TEXTLOCAL_SENDER'),
      },
      http,
    ),
  vonage: (settings, http) =>
    vonage(
      {
        baseUrl: settings.SMS_URL ?? 'https://rest.nexmo.com',
        apiKey: given(settings, 'SMS_VONAGE_API_KEY'),
        apiSecret: given(settings, 'SMS_VONAGE_API_SECRET'),
        from: given(settings, 'SMS_VONAGE_FROM'),
      },
      http,
    ),
};

function given(settings: AuthSettings, name: keyof AuthSettings & `SMS_${string}`): string {
  const value: unknown = settings[name];
  if (value instanceof Secret) return value.reveal();
  if (typeof value === 'string') return value;
  throw new Error(`AUTHSVC_${name} is missing`);
}
