import { subjectOf, textOf } from './answers.ts';
import type { ExternalEmail, ExternalPerson } from './provider.ts';

/** What most profiles have, besides members of their own. */
export interface Profile {
  /** Who says so: the provider's address. */
  issuer: string;
  subject: unknown;
  /** The name to show. */
  name: unknown;
  /** The full name, where it is another one. */
  fullName?: unknown;
  /** URL of the picture. */
  picture: unknown;
  emails: readonly ExternalEmail[];
  /** Members only some have. */
  more?: Readonly<Record<string, unknown>>;
}

/** Somebody as a provider describes them, without the tokens of a sign-in. */
export type Described = Omit<ExternalPerson, 'tokens'>;

/**
 * A profile in the words every provider's profile is told in.
 * @throws ProviderRefused when it has no id
 */
export function describe(profile: Profile): Described {
  const { issuer, name, fullName = name, picture, emails, more } = profile;
  const subject = subjectOf(profile.subject);
  return {
    subject,
    emails,
    metadata: {
      iss: issuer,
      sub: subject,
      provider_id: subject,
      name,
      full_name: fullName,
      picture,
      avatar_url: picture,
      ...more,
    },
  };
}

/** The only address of a profile, if there is one. */
export function onlyEmail(address: unknown, verified: boolean): ExternalEmail[] {
  return textOf(address) === '' ? [] : [{ address: textOf(address), verified, primary: true }];
}
