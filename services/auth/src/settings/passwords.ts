import { boolean, choice, float, integer, text, url } from '@croft/settings';
import { characterSets } from './kinds.ts';

/** What passwords must have and how they are kept. */
export const passwordSettings = {
  PASSWORD_MIN_LENGTH: {
    kind: integer(),
    default: '6',
    about: 'Shortest password, in bytes; never below 6.',
  },
  PASSWORD_REQUIRED_CHARACTERS: {
    kind: characterSets,
    default: '',
    about: 'A password needs at least one character of each set.',
  },
  PASSWORD_HASH: {
    kind: choice('argon2id', 'bcrypt'),
    default: 'argon2id',
    about: 'How new passwords are hashed; both kinds are always verified.',
  },
  PASSWORD_HIBP_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Passwords known from leaks are refused; five hexadecimal digits of a hash leave the house.',
  },
  PASSWORD_HIBP_FAIL_CLOSED: {
    kind: boolean,
    default: 'false',
    about: 'Passwords are refused as well while leaks cannot be asked about.',
  },
  PASSWORD_HIBP_USER_AGENT: {
    kind: text,
    default: 'Croft auth',
    about: 'Name under which leaks are asked about.',
  },
  PASSWORD_HIBP_URL: {
    kind: url,
    default: 'https://api.pwnedpasswords.com',
    about: 'Service that is asked about leaks.',
  },
  PASSWORD_HIBP_BLOOM_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Hashes the service named are remembered in a Bloom filter.',
  },
  PASSWORD_HIBP_BLOOM_ITEMS: {
    kind: integer(1, 100_000_000),
    default: '100000',
    about: 'Hashes the filter is made for.',
  },
  PASSWORD_HIBP_BLOOM_FALSE_POSITIVES: {
    kind: float(1e-9, 0.5),
    default: '0.0000099',
    about: 'Share of good passwords the full filter takes for leaked ones.',
  },
  SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: {
    kind: boolean,
    default: 'false',
    about:
      'Who changes their password has to know the present one, unless a mail or message just signed them in.',
  },
  SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: {
    kind: boolean,
    default: 'false',
    about: 'Sessions older than a day need the code of `GET /reauthenticate` to change a password.',
  },
} as const;
