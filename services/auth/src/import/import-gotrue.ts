import type { Database } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import * as importFactors from '../store/import-factors.ts';
import * as importSessions from '../store/import-sessions.ts';
import * as importUsers from '../store/import-users.ts';
import * as importedTokens from '../store/imported-refresh-tokens.ts';
import { each } from './each-batch.ts';
import { type ImportReport, type Kind, openTally, type Tally } from './report.ts';
import { factorFrom } from './rows/factor.ts';
import { objectOf, textOf, timeOf } from './rows/fields.ts';
import { claimFrom, derivedTokensFrom, sessionFrom, tokenFrom } from './rows/session.ts';
import { identityFrom, type UserDefaults, userFrom } from './rows/user.ts';
import type { Source } from './source.ts';

/** Sessions looked at together at the end, most of them in passing. */
const SETTLED_ROWS = 5000;

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

interface Work extends ImportOrder {
  database: Database;
  atRest: AuthContext['atRest'];
  tally: Tally;
  defaults: UserDefaults;
  now: string;
}

/**
 * Takes over what a GoTrue database holds of people: users with their passwords, identities, factors, sessions with their
 * refresh tokens. Ids stay. A batch is a transaction, and what was taken over once is noted with it, so whatever ends an
 * import, another run goes on where it was. Nothing that is here is changed.
 */
export async function importGoTrue(
  { database, atRest, clock, settings }: Pick<AuthContext, 'database' | 'atRest' | 'clock' | 'settings'>,
  order: ImportOrder,
): Promise<ImportReport> {
  const tally = openTally();
  const defaults = { aud: settings.JWT_AUD, role: settings.JWT_DEFAULT_GROUP_NAME };
  const work: Work = { ...order, database, atRest, tally, defaults, now: clock.now().toISOString() };
  await takeUsers(work);
  await takeIdentities(work);
  await takeFactors(work);
  await takeSessions(work);
  if (!order.dryRun) {
    await each(work, 'mfa_amr_claims', undefined, async (rows) => {
      await importSessions.insertClaims(
        database.autocommit(),
        rows.map((row) => claimFrom(row, work.now)),
      );
    });
  }
  await takeRefreshTokens(work);
  if (order.auditLog) await takeAuditLog(work);
  return tally.report;
}

async function takeUsers(work: Work): Promise<void> {
  const { database, tally, dryRun, now, defaults } = work;
  await each(work, 'users', 'users', async (rows) => {
    const given = rows.map((row) => userFrom(row, now, defaults, tally.note));
    const outcomes = await importUsers.insertUsers(database.autocommit(), given, dryRun);
    const byId = new Map(given.map((user) => [user.id, user]));
    tally.add('users', outcomes, (id) => {
      const { email, phone } = byId.get(id) ?? {};
      return `user ${id} (${email ?? phone ?? 'without an address'})`;
    });
  });
}

async function takeIdentities(work: Work): Promise<void> {
  const { database, tally, dryRun, now } = work;
  await each(work, 'identities', 'identities', async (rows) => {
    const given = rows.map((row) => identityFrom(row, now, tally.note));
    const outcomes = await importUsers.insertIdentities(database.autocommit(), given, dryRun);
    const byId = new Map(given.map((identity) => [identity.id, identity]));
    tally.add('identities', outcomes, (id) => {
      const { provider, provider_id: providerId, user_id: userId } = byId.get(id) ?? {};
      return `identity ${provider} ${providerId} of user ${userId}`;
    });
  });
}

async function takeFactors(work: Work): Promise<void> {
  const { database, tally, dryRun, now, atRest } = work;
  await each(work, 'mfa_factors', 'factors', async (rows) => {
    const given = rows.flatMap((row) => {
      const read = factorFrom(row, now, (secret) => atRest.seal(secret), tally.note);
      if (read !== undefined && 'factor' in read) return [read.factor];
      tally.count('factors').left++;
      // Whoever had two factors has one now, which somebody should know by name.
      if (read !== undefined) {
        tally.conflict(`second factor ${textOf(row, 'id')} of user ${textOf(row, 'user_id')}: ${read.lost}`);
      }
      return [];
    });
    const outcomes = await importFactors.insertFactors(database.autocommit(), given, dryRun);
    tally.add('factors', outcomes, (id) => `second factor ${id}`);
  });
}

async function takeSessions(work: Work): Promise<void> {
  const { database, tally, dryRun, now, atRest } = work;
  await each(work, 'sessions', 'sessions', async (rows) => {
    const given = rows.flatMap((row) => sessionFrom(row, now, tally.note) ?? []);
    tally.count('sessions').left += rows.length - given.length;
    const tx = database.autocommit();
    tally.add('sessions', await importSessions.insertSessions(tx, given, dryRun), (id) => `session ${id}`);
    const derived = rows.flatMap((row) => derivedTokensFrom(row, atRest.refreshTokens, tally.note));
    if (derived.length > 0 && !dryRun) await importedTokens.note(tx, derived);
  });
}

async function takeRefreshTokens(work: Work): Promise<void> {
  const { database, tally, dryRun, atRest } = work;
  await each(work, 'refresh_tokens', 'refresh tokens', async (rows) => {
    const given = rows.flatMap((row) => tokenFrom(row, atRest.refreshTokens) ?? []);
    const tx = database.autocommit();
    const { made, known } = await (dryRun ? importedTokens.countKnown : importedTokens.note)(tx, given);
    const count = tally.count('refresh tokens');
    count.made += made;
    count.known += known;
    count.left += rows.length - made - known;
  });
  if (dryRun) return;
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) {
    after = await importedTokens.settle(database.autocommit(), after, SETTLED_ROWS);
  }
}

async function takeAuditLog(work: Work): Promise<void> {
  const { database, tally, dryRun, now } = work;
  await each(work, 'audit_log_entries', 'audit entries', async (rows) => {
    const given = rows.map((row) => ({
      id: textOf(row, 'id') ?? '',
      payload: withoutZeros(objectOf(row, 'payload')),
      ip_address: textOf(row, 'ip_address') ?? '',
      created_at: timeOf(row, 'created_at') ?? now,
    }));
    const made = dryRun
      ? given.length
      : await importSessions.insertAuditEntries(database.autocommit(), given);
    const count = tally.count('audit entries');
    count.made += made;
    count.known += rows.length - made;
  });
}

/** A column of JSON takes U+0000 and half characters, and fails every search that comes upon them. */
function withoutZeros(payload: object): unknown {
  const clean = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value;
  return JSON.parse(JSON.stringify(payload, clean));
}
