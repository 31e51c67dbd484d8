import { type Database, migrate } from '@croft/sql';
import { migrations } from './open-context.ts';
import type { AuthSettings } from './settings.ts';

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
  return migrate(database, migrations, { values, unlessRunning });
}
