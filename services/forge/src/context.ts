import type { AccessTokens } from '@croft/access-token';
import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock, Log } from '@croft/runtime';
import type { Sealing } from '@croft/settings';
import type { Database } from '@croft/sql';
import type { Links } from './links.ts';
import type { AccountStatusCheck } from './outside/account-status.ts';
import type { Git } from './outside/git/git.ts';
import type { PasswordCheck } from './outside/password-check.ts';
import type { SigningKey } from './outside/signing-key.ts';
import type { MergeOutlooks } from './pulls/merge-outlook.ts';
import type { Queues } from './queues.ts';
import type { ForgeSettings } from './settings.ts';

/** What operations work with. */
export interface Context {
  readonly settings: ForgeSettings;
  readonly database: Database;
  readonly git: Git;
  readonly links: Links;
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** Everything about who somebody is. */
  readonly identity: {
    readonly accessTokens: AccessTokens;
    readonly adminRoles: ReadonlySet<string>;
    /** Undefined when no auth service is known: then passwords are of no use here. */
    readonly passwords: PasswordCheck | undefined;
    /** Undefined when there is no auth service to ask, or nothing to sign the question with. */
    readonly accounts: AccountStatusCheck | undefined;
    /** Signs commits that are made here; undefined when they are not signed. */
    readonly signingKey: SigningKey | undefined;
  };
  /** Outcomes of merges that were tried. */
  readonly outlooks: MergeOutlooks;
  /** How webhooks leave the process, and what keeps their secrets. */
  readonly webhooks: { readonly http: OutgoingHttp; readonly sealing: Sealing };
  /** What must happen one after the other, and how much may happen at once. */
  readonly queues: Queues;
}
