import type { AuthContext } from '../context.ts';
import { databaseUnavailable } from '../failures.ts';
import { ping } from '../store/server.ts';

/**
 * Whether requests can be served (GET /ready): one look at the database.
 * @throws Failure `database_unavailable`, whatever the reason
 */
export async function checkReadiness(context: AuthContext): Promise<void> {
  try {
    await ping(context.database.autocommit());
  } catch (error) {
    throw databaseUnavailable(error);
  }
}
