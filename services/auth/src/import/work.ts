import type { Database } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import type { RowOutcome } from '../store/import-users.ts';
import * as importedRows from '../store/imported-rows.ts';
import type { Kind, Tally } from './report.ts';
import type { UserDefaults } from './rows/user.ts';
import type { Source } from './source.ts';

/** What is taken over, and how. */
export interface ImportOrder {
  source: Source;
  /** Whether the entries of the audit log come along. */
  auditLog: boolean;
  /** Only tells what would be done. */
  dryRun: boolean;
  /** Told after every batch. */
  onProgress: (kind: Kind, read: number) => void;
}

/** One run. */
export interface Work extends ImportOrder {
  database: Database;
  atRest: AuthContext['atRest'];
  tally: Tally;
  defaults: UserDefaults;
  now: string;
  /** When this run began, as the database has it. */
  runAt: Date;
}

/** Notes that this run saw rows that are here. */
export async function noteSeen(
  { database, runAt }: Work,
  kind: 'user' | 'session',
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const ids = outcomes.flatMap(({ id, outcome }) => (outcome === 'made' || outcome === 'known' ? id : []));
  if (ids.length > 0) await importedRows.noteSeen(database.autocommit(), kind, ids, runAt);
}
