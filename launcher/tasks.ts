import { readConfiguration } from './configuration.ts';
import type { Environment } from './environment.ts';
import { openBeside } from './house/open-beside.ts';
import { openHouse } from './house/open-house.ts';
import type { Configured, House, ServiceName } from './registry/index.ts';

/** Brings the tables of a service up to date and ends. */
export async function runMigrations(environment: Environment, name: ServiceName): Promise<number> {
  await using open = new AsyncDisposableStack();
  const { service, house } = await openDatabaseOf(environment, name, open);
  const applied = (await service.migrate?.(house)) ?? [];
  const lines = applied.map((migration) => `applied ${migration}\n`).join('');
  process.stdout.write(lines === '' ? `${name} is up to date\n` : lines);
  return 0;
}

/**
 * A service with its database: not as its own server, as tables need none of what that one cannot do without. One's own database
 * wants no data folder, which would be made here or is in use; the embedded one is in it, and nobody else has it meanwhile.
 */
async function openDatabaseOf(
  environment: Environment,
  name: ServiceName,
  open: AsyncDisposableStack,
): Promise<{ service: Configured; house: House }> {
  const { needsEmbeddedDatabase } = await readConfiguration(environment, [name], false);
  if (!needsEmbeddedDatabase) return await openBeside(environment, name, false, open);
  const opened = await openHouse(environment, [name], false, open);
  const service = opened.services.get(name) as Configured;
  return { service, house: opened.for(service) };
}
