import { boolean, choice, float, rate, text } from '@croft/settings';

const perFiveMinutes = <const D extends string>(count: D, what: string) => ({
  kind: float(),
  default: count,
  about: `${what} of one client in five minutes, refilled evenly.`,
});

/** How often something may be asked for. */
export const limitSettings = {
  RATE_LIMIT_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Clients, and the mails and messages of the whole service, are limited; false switches both off.',
  },
  RATE_LIMIT_STORE: {
    kind: choice('memory', 'postgres'),
    default: 'memory',
    about: 'Where counts are: in each process, or in the database for all of them.',
  },
  RATE_LIMIT_HEADER: {
    kind: text,
    about:
      'Header whose last value tells clients apart, instead of their address; believed from `TRUSTED_PROXIES` only, which must overwrite it.',
  },
  RATE_LIMIT_TOKEN_REFRESH: {
    kind: float(),
    default: '150',
    about:
      'Requests to `/token` of one client in five minutes, refilled evenly; refreshes count for their session instead.',
  },
  RATE_LIMIT_VERIFY: perFiveMinutes('30', 'Verifications'),
  RATE_LIMIT_OTP: perFiveMinutes(
    '30',
    'Requests for a mail or message, for each endpoint (`PUT /user` and `GET /reauthenticate` share one)',
  ),
  RATE_LIMIT_WEB3: perFiveMinutes('30', 'Sign-ins with a wallet'),
  RATE_LIMIT_AUTHORIZE: perFiveMinutes('30', 'Sign-ins begun with a provider'),
  RATE_LIMIT_ANONYMOUS_USERS: {
    kind: float(),
    default: '30',
    about: 'Anonymous users of one client in an hour.',
  },
  RATE_LIMIT_EMAIL_SENT: { kind: rate, default: '30', about: 'Mails of the whole service.' },
  RATE_LIMIT_SMS_SENT: { kind: rate, default: '30', about: 'SMS of the whole service.' },
  RATE_LIMIT_SENT_SHARE: {
    kind: float(0, 1),
    default: '0.5',
    about:
      'Part of these mails and messages that one client may use, at least three of them; 1 lets one use all. Invitations are not limited by it.',
  },
} as const;
