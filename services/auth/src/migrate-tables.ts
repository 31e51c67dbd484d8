import { type Database, migrate } from '@croft/sql';
import { migrations } from './open-context.ts';
import type { AuthSettings } from './settings.ts';

const IF_TAKEN =
  'Choose another one with AUTHSVC_DB_NAMESPACE. If it is that of GoTrue, "Moving in from GoTrue" in docs/operations.md tells how its users, and the name of its schema, are taken over.';

/**
 * Brings the tables up to date; rows that are changed along the way are changed as the settings have it.
 * @param unlessRunning for tasks beside a service, which keeps the tables of its own version
 * @returns the names of the migrations that were applied now
 * @throws StartError as `migrate` does
 */
export function migrateTables(
  database: Database,
  settings: AuthSettings,
  unlessRunning = false,
): Promise<string[]> {
  const values = { mailer_otp_exp_ms: String(settings.MAILER_OTP_EXP) };
  return migrate(database, migrations, { values, unlessRunning, ifTaken: IF_TAKEN });
}
