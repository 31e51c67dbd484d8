import { createHash } from 'node:crypto';
import { type OutboxRow, PermanentFailure } from '@croft/sql';
import { RefusedByHook } from '../failures/hooks.ts';
import type { Hook } from '../outside/hooks/hook.ts';
import { uuidFrom } from '../rules/users/disguised-user.ts';

/**
 * Tells a hook of an outbox row. Every attempt at the row has the same id, so that a hook that was told twice, because
 * its answer got lost or we ended before it came, can tell.
 * @throws PermanentFailure when the hook will not have it; whatever else failed is tried again
 */
export async function askHook(hook: Hook, row: OutboxRow, input: Record<string, unknown>): Promise<void> {
  try {
    await hook(input, { ip: ipIn(row), id: idOf(row) });
  } catch (error) {
    throw error instanceof RefusedByHook && isFinal(error.status)
      ? new PermanentFailure(`the hook refused it with status ${error.status}`)
      : error;
  }
}

/** What a client did wrong, it does wrong again, unless it was early. */
function isFinal(status: number): boolean {
  return status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function ipIn({ payload }: OutboxRow): string | null {
  const { ip } = payload as { ip?: unknown };
  return typeof ip === 'string' ? ip : null;
}

function idOf(row: OutboxRow): string {
  const name = `croft outbox ${row.topic} ${row.id} ${row.created_at.getTime()}`;
  return uuidFrom(createHash('sha256').update(name).digest());
}
