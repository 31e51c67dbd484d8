import { StartError } from '@croft/runtime';
import type { SourceRow } from './rows/fields.ts';

/** Tables of GoTrue that are read, in the order in which rows depend on one another. */
export type SourceTable =
  | 'users'
  | 'identities'
  | 'mfa_factors'
  | 'sessions'
  | 'mfa_amr_claims'
  | 'refresh_tokens'
  | 'audit_log_entries';

/** Rows that go together: what is in memory of a source at a time. */
export const BATCH_ROWS = 500;

/** Where GoTrue's rows come from. */
export interface Source {
  /** What people call it. */
  readonly name: string;
  /** Whether there is such a table, with rows or without. */
  has(table: SourceTable): boolean;
  /** All rows of a table in batches; none when there is no such table. */
  rows(table: SourceTable): AsyncIterable<readonly SourceRow[]>;
  close(): Promise<void>;
}

/**
 * Until late in 2023 an identity had no id of its own, and in its place the one its provider knows the person by.
 * @param columns of the table of identities; undefined when there is none
 * @throws StartError when they are those of that time
 */
export function checkIdentities(columns: readonly string[] | undefined): void {
  if (columns === undefined || columns.includes('provider_id')) return;
  throw new StartError(
    'The identities of the source have no provider_id: its GoTrue is from before December 2023. Start a newer one on that database once, which brings its tables up to date, and stop it again.',
  );
}
