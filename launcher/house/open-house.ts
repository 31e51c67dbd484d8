import type { EmbeddedPostgres } from '@croft/sql/embedded';
import { type Configuration, databaseVariable, readConfiguration } from '../configuration.ts';
import type { Environment } from '../environment.ts';
import type { Configured, House, ServiceName } from '../registry/index.ts';
import { version } from '../version.ts';
import { checkSpace, takeDataFolder } from './data-folder.ts';
import { checkOwnDatabase, startDatabase } from './database.ts';
import { checkGit } from './git.ts';
import { openLog, type RunLog, tellWarnings } from './log.ts';
import { readSecrets, type Secrets } from './secrets.ts';

/** Everything that services stand on: the data folder taken, the log open, a database that answers. */
export interface OpenHouse {
  readonly configuration: Configuration;
  /** As they are in `secrets.json`. */
  readonly secrets: Secrets;
  /** Whether `secrets.json` was made by this run. */
  readonly firstRun: boolean;
  readonly runLog: RunLog;
  readonly embedded: EmbeddedPostgres | undefined;
  /** Services with their real secrets, in the order of starting. */
  readonly services: ReadonlyMap<ServiceName, Configured>;
  /** What the one service needs. */
  for(service: Configured, more?: Partial<Pick<House, 'authUrl' | 'onStop'>>): House;
}

/**
 * Opens what the services stand on; `open` closes it again, last things first. Everything that can be refused is
 * refused before anything is touched.
 */
export async function openHouse(
  environment: Environment,
  names: readonly ServiceName[],
  named: boolean,
  open: AsyncDisposableStack,
): Promise<OpenHouse> {
  const configuration = await readConfiguration(environment, names, named);
  const { dataFolder } = configuration;
  await Promise.all(configuration.git.map(checkGit));
  const spaceWarning = await checkSpace(
    dataFolder,
    configuration.services.some((service) => service.usesDatabase),
  );

  open.use(takeDataFolder(dataFolder));
  const { secrets, made } = await readSecrets(dataFolder);
  const atRestKey = configuration.settings.CROFT_AT_REST_KEY ?? secrets.atRestKey;
  const runLog = openLog(configuration);
  const { log } = runLog;
  tellWarnings(runLog, [...configuration.warnings, ...(spaceWarning === undefined ? [] : [spaceWarning])]);

  // While PostgreSQL comes up in a process of its own, this one has time to load code; not before, because loading blocks.
  // What fails here fails again, and is told, where the code is used.
  const load = () => void Promise.allSettled(configuration.services.map((service) => service.load()));
  const embedded = configuration.needsEmbeddedDatabase
    ? await startDatabase(dataFolder, log, load)
    : undefined;
  if (embedded !== undefined) open.adopt(embedded, (database) => database.stop());
  const services = configuration.configure(secrets);
  // Once for each address, under the name by which the first of the services was told of it.
  const own = new Map(
    configuration.services.toReversed().flatMap((service) => {
      const url = services.get(service.name)?.database?.reveal();
      return url === undefined ? [] : [[url, databaseVariable(service, environment)]];
    }),
  );
  await Promise.all([...own].map(([url, variable]) => checkOwnDatabase(url, variable, log)));

  return {
    configuration,
    secrets,
    firstRun: made,
    runLog,
    embedded,
    services,
    for: (service, more = {}) => ({
      dataFolder,
      log,
      version,
      secrets: { ...secrets, atRestKey },
      databaseUrl: service.database?.reveal() ?? embedded?.url('croft') ?? '',
      authUrl: configuration.authUrl,
      adminRoles: configuration.adminRoles,
      onStop: () => {},
      ...more,
    }),
  };
}
