import { FACTOR_METHODS } from '../rules/factors/assurance.ts';
import * as importSessions from '../store/import-sessions.ts';
import * as importedTokens from '../store/imported-refresh-tokens.ts';
import * as importedRows from '../store/imported-rows.ts';
import { each } from './each-batch.ts';
import { claimFrom, derivedTokensFrom, sessionFrom, tokenFrom } from './rows/session.ts';
import { BATCH_ROWS } from './source.ts';
import { noteSeen, type Work } from './work.ts';

/** Sessions looked at together at the end, most of them in passing. */
const SETTLED_ROWS = 5000;

/** Takes sessions over with how they were opened and their refresh tokens, and ends those that were ended there. */
export async function takeSessions(work: Work): Promise<void> {
  await takeRows(work);
  if (!work.dryRun) {
    await endSessions(work);
    await takeClaims(work);
  }
  await takeRefreshTokens(work);
}

async function takeRows(work: Work): Promise<void> {
  const { database, tally, dryRun, now, atRest } = work;
  await each(work, 'sessions', 'sessions', async (rows) => {
    const given = rows.flatMap((row) => sessionFrom(row, now, tally.note) ?? []);
    tally.count('sessions').left += rows.length - given.length;
    const tx = database.autocommit();
    const outcomes = await importSessions.insertSessions(tx, given, dryRun);
    tally.add('sessions', outcomes, (id) => `session ${id}`);
    if (!dryRun) await noteSeen(work, 'session', outcomes);
    const derived = rows.flatMap((row) => derivedTokensFrom(row, atRest.refreshTokens, tally.note));
    if (derived.length > 0 && !dryRun) await importedTokens.note(tx, derived);
  });
}

/** Sessions that are gone there since a run before this one: somebody signed out, or was signed out. */
async function endSessions({ source, database, runAt, tally }: Work): Promise<void> {
  // A dump of some tables says nothing of the others.
  if (!source.has('sessions')) return;
  for (;;) {
    const ended = await importedRows.endUnseenSessions(database.autocommit(), runAt, BATCH_ROWS);
    if (ended === 0) return;
    tally.note('sessions that ended there since they were taken over: they have ended here, too', ended);
  }
}

async function takeClaims(work: Work): Promise<void> {
  await each(work, 'mfa_amr_claims', undefined, async (rows) => {
    const given = rows.map((row) => claimFrom(row, work.now));
    await importSessions.insertClaims(work.database.autocommit(), given, FACTOR_METHODS);
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
