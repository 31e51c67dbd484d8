import type { Context } from '../context.ts';
import { settleEach } from '../settle-each.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { abandonRepository } from './create-repository.ts';

/** At start: removes repositories whose creation or removal a crash interrupted; nobody was told of either. */
export async function settleRepositories(context: Context): Promise<void> {
  const unsettled = await repositories.listUnsettled(context.database.autocommit());
  await settleEach(context.log, 'creation or removal of a repository', unsettled, async ({ id, state }) => {
    await abandonRepository(context, id);
    context.log.warn({ repository: id, state }, 'removed a repository that a crash left unfinished');
  });
}
