import type { Environment } from './environment.ts';
import { openHouse } from './house/open-house.ts';
import type { Configured, House, ServiceName } from './registry/index.ts';

/** Brings the tables of a service up to date and ends. */
export async function runMigrations(environment: Environment, name: ServiceName): Promise<number> {
  return await inHouse(environment, name, async (service, house) => {
    const applied = (await service.migrate?.(house)) ?? [];
    const lines = applied.map((migration) => `applied ${migration}\n`).join('');
    process.stdout.write(lines === '' ? `${name} is up to date\n` : lines);
  });
}

async function inHouse(
  environment: Environment,
  name: ServiceName,
  work: (service: Configured, house: House) => Promise<void>,
): Promise<number> {
  await using open = new AsyncDisposableStack();
  // Not as its own server: tables need none of what that one cannot do without.
  const house = await openHouse(environment, [name], false, open);
  const service = house.services.get(name) as Configured;
  await work(service, house.for(service));
  return 0;
}
