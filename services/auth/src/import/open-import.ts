import { StartError } from '@croft/runtime';
import { migrateTables } from '../migrate-tables.ts';
import { type AuthOptions, openContext } from '../open-context.ts';
import { pairAtRestKey } from '../pair-at-rest-key.ts';
import { openDumpSource } from './dump/dump-source.ts';
import { importGoTrue } from './import-gotrue.ts';
import { openLiveSource } from './live-source.ts';
import type { ImportReport } from './report.ts';
import type { ImportOrder } from './work.ts';

/** Where GoTrue's rows are. */
export interface ImportFrom {
  /** Another database than the service's own. */
  from: string | undefined;
  /** A plain dump, in place of a database. */
  dump: string | undefined;
  schema: string;
}

/**
 * Imports from a GoTrue database or a dump of one (`croft auth import`). Works beside a running auth.
 * @throws StartError when the source is none, or cannot be read as it is, or when the service has another at-rest key
 */
export async function importFromGoTrue(
  options: Pick<AuthOptions, 'settings' | 'databaseUrl' | 'log' | 'secrets' | 'version'>,
  { from, dump, schema }: ImportFrom,
  order: Pick<ImportOrder, 'auditLog' | 'dryRun' | 'onProgress'>,
): Promise<ImportReport> {
  if (from === undefined && dump === undefined && schema === options.settings.DB_NAMESPACE) {
    throw new StartError(
      `The schema "${schema}" is the service's own. Import from another with --schema, another database with --from or a dump with --dump; or give the service another schema with AUTHSVC_DB_NAMESPACE.`,
    );
  }
  const context = openContext(options);
  try {
    await migrateTables(context.database, options.settings, true);
    if (!order.dryRun) await pairAtRestKey(context);
    const source =
      dump === undefined
        ? await openLiveSource(from ?? options.databaseUrl, schema, options.log)
        : await openDumpSource(dump, schema);
    try {
      return await importGoTrue(context, { ...order, source });
    } finally {
      await source.close();
    }
  } finally {
    await context.limits.close?.();
    await context.database.close();
  }
}
