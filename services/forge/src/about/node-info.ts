import { z } from 'zod';
import type { Context } from '../context.ts';
import * as users from '../store/people/users.ts';

/** What runs here, under the names of NodeInfo 2.1, which are written otherwise than everything else here. */
export const nodeInfoSchema = z.object({
  version: z.string().describe('of NodeInfo'),
  software: z.object({
    name: z.string(),
    version: z.string(),
    repository: z.string(),
    homepage: z.string(),
  }),
  protocols: z.array(z.string()),
  services: z.object({ inbound: z.array(z.string()), outbound: z.array(z.string()) }),
  openRegistrations: z.boolean(),
  usage: z.object({ users: z.object({ total: z.int() }) }),
  metadata: z.object({}),
});

/** What runs here. Nothing is federated, so no protocol is named; of its use only what a search of people tells, too. */
export async function showNodeInfo({
  database,
  version,
}: Pick<Context, 'database' | 'version'>): Promise<z.output<typeof nodeInfoSchema>> {
  const total = await users.countPeople(database.autocommit());
  return {
    version: '2.1',
    software: { name: 'croft', version, repository: '', homepage: '' },
    protocols: [],
    services: { inbound: [], outbound: [] },
    // Accounts come from the auth service; here nobody registers.
    openRegistrations: false,
    usage: { users: { total } },
    metadata: {},
  };
}
