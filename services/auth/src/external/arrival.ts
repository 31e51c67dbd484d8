import type { Failure } from '@croft/failure';
import type { Origin } from '../caller/origin.ts';
import type { ExternalPerson } from '../outside/providers/provider.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { chosenEmail, type LinkEmail } from '../rules/external/account-linking.ts';
import { externalMetadata } from '../rules/external/external-metadata.ts';
import type { Waiting } from '../sessions/prepare-sign-in.ts';

/** Somebody a provider has told us of. */
export interface Admission {
  /** Its name, or the address of an issuer that has none. */
  provider: string;
  emailOptional: boolean;
  /** The refusal of who comes without an address and needs one. */
  emailMissing: () => Failure;
  person: ExternalPerson;
  /** Keyed hash of the link token of an invitation that is to be accepted. */
  inviteTokenHash: string | null;
  /** Where the link of a confirmation mail leads to. */
  redirectTo: string;
  /** The client that gets a code in place of the session. */
  waiting: Waiting | undefined;
  origin: Origin;
}

/** An admission with what follows from it alone. */
export interface Arrival extends Admission {
  emails: readonly LinkEmail[];
  /** What is stored of them. */
  identityData: Record<string, unknown>;
}

/** More than anybody needs; some provider may let people have thousands. */
const MAX_EMAILS = 50;

/** What of a provider's words is believed. */
export function arrivalOf(admission: Admission): Arrival {
  const emails = usableEmails(admission.person);
  const identityData = externalMetadata(admission.person.metadata, chosenEmail(emails));
  return { ...admission, emails, identityData };
}

/** Addresses as they would be stored; what is no address is not taken for one, whoever vouches for it. */
export function usableEmails({ emails }: ExternalPerson): LinkEmail[] {
  return emails.slice(0, MAX_EMAILS).flatMap(({ address, verified, primary }) => {
    try {
      return [{ address: checkEmailAddress(address), verified, primary }];
    } catch {
      return [];
    }
  });
}
