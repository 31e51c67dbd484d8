import type { AuthContext } from '../context.ts';
import * as importFactors from '../store/import-factors.ts';
import * as importSessions from '../store/import-sessions.ts';
import * as importUsers from '../store/import-users.ts';
import * as importedRows from '../store/imported-rows.ts';
import { each } from './each-batch.ts';
import { type ImportReport, openTally } from './report.ts';
import { factorFrom } from './rows/factor.ts';
import { objectOf, textOf, timeOf } from './rows/fields.ts';
import { identityFrom, userFrom } from './rows/user.ts';
import { takeSessions } from './take-sessions.ts';
import { type ImportOrder, noteSeen, type Work } from './work.ts';

/**
 * Takes over what a GoTrue database holds of people: users with their passwords, identities, factors, sessions with their
 * refresh tokens. Ids stay. A batch is a transaction, and what was taken over once is noted with it, so whatever ends an
 * import, another run goes on where it was. Nothing that is here is changed, but that sessions end that were ended there.
 */
export async function importGoTrue(
  { database, atRest, clock, settings }: Pick<AuthContext, 'database' | 'atRest' | 'clock' | 'settings'>,
  order: ImportOrder,
): Promise<ImportReport> {
  const tally = openTally();
  const defaults = { aud: settings.JWT_AUD, role: settings.JWT_DEFAULT_GROUP_NAME };
  const runAt = await importedRows.beginRun(database.autocommit());
  const work: Work = { ...order, database, atRest, tally, defaults, now: clock.now().toISOString(), runAt };
  await takeUsers(work);
  await takeIdentities(work);
  await takeFactors(work);
  await takeSessions(work);
  if (order.auditLog) await takeAuditLog(work);
  return tally.report;
}

async function takeUsers(work: Work): Promise<void> {
  const { database, tally, dryRun, now, defaults } = work;
  await each(work, 'users', 'users', async (rows) => {
    const given = rows.map((row) => userFrom(row, now, defaults, tally.note));
    const outcomes = await importUsers.insertUsers(database.autocommit(), given, dryRun);
    const byId = new Map(given.map((user) => [user.id, user]));
    const nameOf = (id: string): string => {
      const { email, phone } = byId.get(id) ?? {};
      return `user ${id} (${email ?? phone ?? 'without an address'})`;
    };
    tally.add('users', outcomes, nameOf);
    if (!dryRun) await noteSeen(work, 'user', outcomes);
    for (const { id, isChanged } of outcomes) if (isChanged) tally.changedThere(nameOf(id));
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
    const read = rows.flatMap(
      (row) => factorFrom(row, now, (secret) => atRest.seal(secret), tally.note) ?? [],
    );
    tally.count('factors').left += rows.length - read.length;
    const given = read.map(({ factor }) => factor);
    const tx = database.autocommit();
    const outcomes = await importFactors.insertFactors(tx, given, dryRun);
    tally.add('factors', outcomes, (id) => `second factor ${id}`);

    const locking = read.filter(({ unprovable }) => unprovable !== undefined);
    if (locking.length === 0) return;
    // Those of a run before this one, too: nobody may have seen its end. But not what an administrator took away since.
    const ours = new Set(
      outcomes.flatMap(({ id, outcome }) => (outcome === 'made' || outcome === 'known' ? id : [])),
    );
    const present = dryRun ? ours : await importFactors.listPresent(tx, [...ours]);
    const told = new Set(present);
    for (const { factor, unprovable } of locking) {
      if (told.has(factor.id))
        tally.unprovable(`second factor ${factor.id} of user ${factor.user_id}: ${unprovable}`);
    }
  });
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
