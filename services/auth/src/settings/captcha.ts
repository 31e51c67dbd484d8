import { boolean, choice, secret, wait } from '@croft/settings';
import { exactUrl } from './kinds.ts';

/** The check that a person asks. */
export const captchaSettings = {
  SECURITY_CAPTCHA_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Requests that send or sign in need a CAPTCHA token.',
  },
  SECURITY_CAPTCHA_PROVIDER: {
    kind: choice('hcaptcha', 'turnstile'),
    default: 'hcaptcha',
    about: 'Service that verifies the tokens.',
  },
  SECURITY_CAPTCHA_SECRET: {
    kind: secret,
    about: 'Secret of the account there; required with `SECURITY_CAPTCHA_ENABLED`.',
  },
  SECURITY_CAPTCHA_TIMEOUT: { kind: wait(1), default: '10s', about: 'Time a verification may take.' },
  SECURITY_CAPTCHA_URL: {
    kind: exactUrl,
    about: 'Address that verifies instead of the one of the service, for tests and proxies.',
  },
} as const;
