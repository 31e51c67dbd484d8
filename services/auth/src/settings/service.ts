import { duration, host, list, port, secret, text, url, wait } from '@croft/settings';
import { patterns, proxies, siteAddress } from './kinds.ts';

/** Where the service is, and whom it believes. */
export const serviceSettings = {
  SITE_URL: {
    kind: siteAddress,
    required: true,
    about: 'Base URL of the site; URLs on its host are permitted as `redirect_to`.',
  },
  URI_ALLOW_LIST: { kind: patterns, default: '', about: 'Further URLs permitted as `redirect_to`.' },
  OPERATOR_TOKEN: {
    kind: secret,
    about: 'Secret shared with an operator that proxies requests; without it there is no operator.',
  },

  API_HOST: { kind: host, default: '127.0.0.1', about: 'Address to listen on.' },
  API_PORT: { kind: port, default: '8081', alsoNamed: ['PORT'], about: 'Port to listen on.' },
  API_ENDPOINT: { kind: url, about: 'Accepted and without effect.' },
  API_EXTERNAL_URL: {
    kind: url,
    required: true,
    alsoNamed: ['API_EXTERNAL_URL'],
    about: 'Address under which the service is reached from outside; links in mails begin with it.',
  },
  API_MAX_REQUEST_DURATION: {
    // With less no request could be answered, not even the first one of the service's own.
    kind: wait(1000),
    default: '10s',
    about: 'Time a request may take before it is answered 504.',
  },
  REQUEST_ID_HEADER: {
    kind: text,
    alsoNamed: ['REQUEST_ID_HEADER'],
    about: 'Header from which a request inherits its id.',
  },
  CORS_ALLOWED_HEADERS: { kind: list, default: '', about: 'Further request headers browsers may send.' },
  TRUSTED_PROXIES: {
    kind: proxies,
    default: 'loopback',
    about:
      'Proxies whose `X-Forwarded-For` is believed, read from its end: the client is the last address that is none of them. A number counts the proxies in front.',
  },
  INTERNAL_HTTP_TIMEOUT: {
    kind: wait(1),
    default: '10s',
    about: 'Time a request to a provider, an SMS service or a template may take.',
  },
  AUDIT_LOG_RETENTION: {
    kind: duration,
    default: '0',
    about: 'Age at which clean-up deletes audit entries; 0 keeps them.',
  },
} as const;
