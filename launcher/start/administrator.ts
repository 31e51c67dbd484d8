import type { OpenHouse } from '../house/open-house.ts';

/** The name of the administrator that the first run makes. */
const EMAIL = 'admin@croft.local';

/** Somebody who can sign in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Makes the administrator whose password waits in `secrets.json` to be shown; undefined when none waits. The password
 * is written down before, so a crash in between does not lose it. In a database of the person's own others may be
 * administrators already, so nobody is made there.
 */
export async function makeAdministrator(house: OpenHouse): Promise<Credentials | undefined> {
  const auth = house.services.get('auth');
  const password = house.secrets.administratorPassword?.reveal();
  if (auth?.createAdministrator === undefined || auth.database !== undefined || password === undefined) {
    return undefined;
  }
  await auth.createAdministrator(house.for(auth), EMAIL, password);
  return { email: EMAIL, password };
}

/** Whether nobody was made because the database is the person's own, at the first run, when that is worth a word. */
export function lacksAdministrator(house: OpenHouse): boolean {
  return house.firstRun && house.services.get('auth')?.database !== undefined;
}
