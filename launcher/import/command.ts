import type { Command } from 'commander';
import type { Environment } from '../environment.ts';

const ABOUT_IMPORT = `
Takes over users with their passwords, identities, second factors, and sessions with their refresh tokens; ids stay. People sign in
as they did, and clients that are signed in stay so: a refresh token of GoTrue's is taken once and answered with one of ours.
Codes and links that were sent, changes of address that are under way and SAML providers stay behind.

GoTrue's database is only read, and nothing that Croft has is changed: whoever has the same address, number, id or identity here
already is listed at the end and left. A batch of 500 rows is a transaction; run it again to go on after an interruption, or to fetch
what is new. What was taken over once is not taken again, even if it was deleted here since. Works beside a running Croft.

Stop GoTrue first, then import once, then point clients to Croft; try it before with --dry-run. A password that is changed, a ban, a
sign-out or a deletion in a GoTrue that goes on after the import does not arrive here. A later run lists the users whose row it
changed, ends with exit code 3, and ends sessions that ended there and nobody continued here; of users whose row is gone it learns nothing.

Passwords of users who never confirmed an address or number stay behind: they may be anybody's. Second factors that cannot be proven
here (WebAuthn, encrypted keys) come along and lock their account at the first factor until an administrator deletes them: all are listed.

Access tokens stay valid when AUTHSVC_JWT_SECRET (or AUTHSVC_JWT_KEYS) are GoTrue's. A password in --from can be seen in the list of processes: leave it to PGPASSWORD or
~/.pgpass. The user must own the tables, or row-level security would hide their rows. A dump is a plain one of all or of the schema:
  pg_dump --schema=auth --file=dump.sql postgres://…

Examples:
  croft auth import --from postgres://postgres@db.example/postgres
  croft auth import --dump dump.sql --dry-run
  croft auth import --schema gotrue           another schema of the service's own database`;

interface ImportOptions {
  from?: string;
  dump?: string;
  schema: string;
  auditLog?: true;
  dryRun?: true;
}

/** Moving in from GoTrue. */
export function describeImport(
  auth: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  auth
    .command('import')
    .description('take over the users of a GoTrue database, or of a dump of one')
    .option('--from <address>', "postgres:// address of the database; without, the service's own")
    .option('--dump <file>', 'a plain dump of pg_dump instead')
    .option('--schema <name>', 'schema of its tables', 'auth')
    .option('--audit-log', 'its audit log, too')
    .option(
      '--dry-run',
      'only tell what would be done; what stands in the source twice shows in the import alone',
    )
    .addHelpText('after', ABOUT_IMPORT)
    .action(async (options: ImportOptions, command: Command) => {
      if (options.from !== undefined && options.dump !== undefined) {
        command.error('error: --from and --dump exclude one another');
      }
      const { runImport } = await import('./run-import.ts');
      done(await runImport(environment, options));
    });
}
