import type { Database, Tx } from '@croft/sql';
import { longestRefillMs } from '../limits/limits.ts';
import type { AuthSettings } from '../settings.ts';
import * as expiredRows from '../store/expired-rows.ts';
import * as rateLimits from '../store/rate-limits.ts';
import * as sendLimits from '../store/send-limits.ts';
import * as web3Messages from '../store/web3-messages.ts';

/** Rows a statement deletes at most: what waits for one of them does not wait long. */
const BATCH_ROWS = 500;

const HOUR_MS = 3_600_000;
/** Until then a refresh is told that the session is over, afterwards that there is none. */
const ENDED_KEPT_MS = 72 * HOUR_MS;
const REVOKED_KEPT_MS = 24 * HOUR_MS;
/** For those who put their phone away in between. */
const UNPROVEN_KEPT_MS = 24 * HOUR_MS;

interface Rule {
  table: string;
  /** How old rows must be. */
  ageMs: number;
  remove: (tx: Tx, before: Date, most: number) => Promise<number>;
}

/** What is swept out (as in GoTrue, and what nobody else sweeps). */
function rulesOf(settings: AuthSettings): Rule[] {
  const rules: Rule[] = [
    { table: 'one_time_tokens', ageMs: 0, remove: expiredRows.deleteCodes },
    { table: 'auth_codes', ageMs: HOUR_MS, remove: expiredRows.deleteAuthCodes },
    { table: 'web3_messages', ageMs: HOUR_MS, remove: web3Messages.deleteExpired },
    { table: 'mfa_challenges', ageMs: 0, remove: expiredRows.deleteChallenges },
    { table: 'mfa_factors', ageMs: UNPROVEN_KEPT_MS, remove: expiredRows.deleteUnproven },
    {
      table: 'flow_state',
      ageMs: settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION,
      remove: expiredRows.deleteFlows,
    },
    {
      table: 'send_limits',
      ageMs: Math.max(
        settings.SMTP_MAX_FREQUENCY,
        settings.SMS_MAX_FREQUENCY,
        settings.MFA_PHONE_MAX_FREQUENCY,
      ),
      remove: sendLimits.deleteOld,
    },
    { table: 'rate_limits', ageMs: longestRefillMs(settings), remove: rateLimits.deleteIdle },
    { table: 'sessions', ageMs: ENDED_KEPT_MS, remove: expiredRows.deleteEndedSessions },
    { table: 'sessions', ageMs: REVOKED_KEPT_MS, remove: expiredRows.deleteRevokedSessions },
  ];
  if (settings.AUDIT_LOG_RETENTION > 0) {
    rules.push({
      table: 'audit_log_entries',
      ageMs: settings.AUDIT_LOG_RETENTION,
      remove: expiredRows.deleteAuditEntries,
    });
  }
  return rules.filter(({ ageMs }) => Number.isFinite(ageMs));
}

/** What one round did. */
interface Swept {
  rows: number;
  /** Whether a batch was full, so that there may be more. */
  more: boolean;
}

/** Deletes a batch of each kind of expired rows, unless another process is at it. One short transaction. */
export async function cleanUp(
  database: Database,
  settings: AuthSettings,
  onAffected: (table: string, rows: number) => void,
): Promise<Swept> {
  const swept = await database.transaction(async (tx) => {
    if (!(await expiredRows.takeTurn(tx, database.schema))) return [];
    const counts: { table: string; rows: number }[] = [];
    for (const { table, ageMs, remove } of rulesOf(settings)) {
      const before = new Date(tx.now.getTime() - ageMs);
      counts.push({ table, rows: await remove(tx, before, BATCH_ROWS) });
    }
    return counts;
  });
  for (const { table, rows } of swept) if (rows > 0) onAffected(table, rows);
  return {
    rows: swept.reduce((sum, { rows }) => sum + rows, 0),
    more: swept.some(({ rows }) => rows === BATCH_ROWS),
  };
}
