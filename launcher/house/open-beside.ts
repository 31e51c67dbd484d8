import { FolderInUse, StartError } from '@croft/runtime';
import { findRunningDatabase } from '../admin/running-database.ts';
import { databaseVariable, readConfiguration } from '../configuration.ts';
import type { Environment } from '../environment.ts';
import { type Configured, findService, type House, type ServiceName } from '../registry/index.ts';
import { version } from '../version.ts';
import { checkOwnDatabase } from './database.ts';
import { openLog, tellWarnings } from './log.ts';
import { openHouse } from './open-house.ts';
import { lookAtSecrets, PLACEHOLDERS, type Secrets } from './secrets.ts';

/** What a task beside a running service stands on. */
export interface OpenBeside {
  readonly service: Configured;
  readonly house: House;
  /** Whether the at-rest key is the one that the running Croft has. */
  readonly knowsKey: boolean;
}

/**
 * Opens a service for a task, whether or not a Croft is running: on a database of the person's own nothing is locked; the
 * embedded one is used where it runs, and started when nobody runs it.
 * @param makes whether an empty folder becomes a data folder; else it is a misspelt one
 */
export async function openBeside(
  environment: Environment,
  name: ServiceName,
  makes: boolean,
  open: AsyncDisposableStack,
): Promise<OpenBeside> {
  const configuration = await readConfiguration(environment, [name], false);
  const { dataFolder, settings, adminRoles, authUrl } = configuration;
  let databaseUrl: string | undefined;
  if (configuration.needsEmbeddedDatabase) {
    if (!makes && (await lookAtSecrets(dataFolder)) === undefined) {
      throw new StartError(`There is no Croft in ${dataFolder}. Name its data folder with CROFT_DATA.`);
    }
    try {
      const opened = await openHouse(environment, [name], false, open);
      const service = opened.services.get(name) as Configured;
      return { service, house: opened.for(service), knowsKey: true };
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
      databaseUrl = await findRunningDatabase(dataFolder);
    }
  }

  const written = await lookAtSecrets(dataFolder);
  const secrets: Secrets = written ?? PLACEHOLDERS;
  const key = settings.CROFT_AT_REST_KEY ?? written?.atRestKey;
  // The one that runs, if one does, goes on writing to its file.
  const runLog = openLog(configuration, { ownsFolder: false });
  const { log } = runLog;
  tellWarnings(runLog, configuration.warnings);
  const service = configuration.configure(secrets).get(name) as Configured;
  const own = service.database?.reveal();
  if (own !== undefined)
    await checkOwnDatabase(own, databaseVariable(await findService(name), environment), log);
  return {
    service,
    house: {
      dataFolder,
      log,
      version,
      secrets: { ...secrets, atRestKey: key ?? secrets.atRestKey },
      databaseUrl: own ?? databaseUrl ?? '',
      authUrl,
      adminRoles,
      onStop: () => {},
    },
    knowsKey: key !== undefined,
  };
}
