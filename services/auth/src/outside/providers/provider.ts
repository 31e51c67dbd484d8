import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock } from '@croft/runtime';
import type { ProviderId } from '../../rules/external/provider-ids.ts';

/** An address a provider knows somebody by. */
export interface ExternalEmail {
  address: string;
  /** Whether the provider says that the address is theirs. */
  verified: boolean;
  primary: boolean;
}

/** Somebody as a provider describes them. */
export interface ExternalPerson {
  /** Their id at the provider, the same for ever. */
  subject: string;
  emails: readonly ExternalEmail[];
  /** Claims under the names of OpenID Connect and a few of our own; `rules/external-metadata.ts` says what is kept. */
  metadata: Readonly<Record<string, unknown>>;
  /** What the application may call the provider's own interface with. */
  tokens: { access: string; refresh: string | undefined };
}

/** What is remembered between the two halves of a sign-in, such as a PKCE verifier. */
export type Kept = Readonly<Record<string, string>>;

/** One external provider with the credentials of this installation. */
export interface Provider {
  readonly id: ProviderId;
  /** Whether it may name nobody's address. */
  readonly emailOptional: boolean;
  /** How it answers: with a redirect, or by making the browser post a form from its own site. */
  readonly answersBy: 'redirect' | 'form';
  /**
   * Where the browser is sent to sign in.
   * @throws ProviderRefused when the provider has to be asked first and does not answer as it should
   */
  begin(
    flow: { state: string; scopes: readonly string[]; passthrough: ReadonlyMap<string, string> },
    signal: AbortSignal,
  ): Promise<{ url: string; kept?: Kept }>;
  /**
   * Who signed in, told by the provider itself in exchange for the code.
   * @throws ProviderRefused
   */
  finish(
    answer: { code: string; form: Readonly<Record<string, string>>; kept: Kept },
    signal: AbortSignal,
  ): Promise<ExternalPerson>;
}

/** What this installation is to a provider. */
export interface Client {
  id: string;
  secret: string;
  redirectUri: string;
  /** `EXTERNAL_X_URL`, without a trailing slash: stands in place of every host of the provider. */
  url: string | undefined;
  skipNonceCheck: boolean;
  http: OutgoingHttp;
  clock: Clock;
}

/** At which step a provider did not do what it should; `keys` is what its signatures are checked with. */
export type Step = 'begin' | 'exchange' | 'keys' | 'profile';

/** The provider could not be reached, refused, or answered with what cannot be used. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
  readonly step: Step;

  constructor(step: Step, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.step = step;
  }
}
