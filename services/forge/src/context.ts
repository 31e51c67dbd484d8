import type { AccessTokens } from '@croft/access-token';
import type { Clock, Log } from '@croft/runtime';
import type { Database } from '@croft/sql';
import type { Links } from './links.ts';
import type { Git } from './outside/git/git.ts';
import type { PasswordCheck } from './outside/password-check.ts';
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
  };
  /** Outcomes of merges that were tried. */
  readonly outlooks: MergeOutlooks;
  /** What must happen one after the other, and how much may happen at once. */
  readonly queues: Queues;
}
