import type { AdminTasks, ImportFrom, ImportReport } from '@croft/auth';
import type { ForgeTasks } from '@croft/forge';
import type { Log, RunningService } from '@croft/runtime';
import type { Secret, SettingsTable } from '@croft/settings';
import type { Environment } from '../environment.ts';
import type { GitProgram } from '../house/git.ts';
import type { Secrets } from '../house/secrets.ts';

/** In the order of starting: forge asks auth about passwords. */
export const serviceNames = ['auth', 'forge', 'state'] as const;

/** One of the services this product has. */
export type ServiceName = (typeof serviceNames)[number];

/** What a start gives to a service. */
export interface House {
  readonly dataFolder: string;
  readonly log: Log;
  readonly version: string;
  readonly secrets: Secrets;
  /** Address of the database, for a service that uses one. */
  readonly databaseUrl: string;
  /** Where auth answers; a promise while it is starting, too. */
  readonly authUrl: string | Promise<string>;
  /** Roles of access tokens whose bearers administrate. */
  readonly adminRoles: readonly string[];
  /** For a service that a client may tell to end. */
  readonly onStop: () => void;
}

/** How an import goes. */
export interface ImportOrder {
  auditLog: boolean;
  dryRun: boolean;
  onProgress(kind: string, read: number): void;
}

/** A service whose settings are read and good. */
export interface Configured {
  /** The database its own settings name; undefined leaves it to the embedded one. */
  readonly database: Secret | undefined;
  /** The git program it needs, and the folders in which it is looked for. */
  readonly git?: GitProgram;
  start(house: House): Promise<RunningService>;
  migrate?(house: House): Promise<string[]>;
  createAdministrator?(house: House, email: string, password: string): Promise<void>;
  adminTasks?(house: House): Promise<AdminTasks>;
  importFromGoTrue?(house: House, from: ImportFrom, order: ImportOrder): Promise<ImportReport>;
  forgeTasks?(house: House): Promise<ForgeTasks>;
  /** Throws a StartError when tasks cannot work beside it. */
  checkForge?(house: House): Promise<void>;
}

/** A service: its settings are here, its code comes with `load`. */
export interface Service {
  readonly name: ServiceName;
  readonly table: SettingsTable;
  readonly usesDatabase: boolean;
  /** Loads the code, which takes longer than anything else in a start; starting does it too. */
  load(): Promise<unknown>;
  /**
   * @param onItsOwn whether it gets no defaults from us, because a person configured it by itself
   * @throws SettingsError with all its problems
   */
  configure(environment: Environment, onItsOwn: boolean): Configured;
}

/** The settings of one service, and a way to its code, which `npm start -- state` does not load for the others. */
export async function findService(name: ServiceName): Promise<Service> {
  switch (name) {
    case 'auth':
      return (await import('./auth.ts')).auth;
    case 'forge':
      return (await import('./forge.ts')).forge;
    case 'state':
      return (await import('./state.ts')).state;
  }
}
