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
