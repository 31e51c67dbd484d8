import type { Call, Context } from '../context.ts';

/** Reads the policy file again; on an error the old policy stays. */
export async function reloadPolicy(call: Call, { policy }: Context): Promise<void> {
  await policy.reload();
  const { keep, menu } = policy.policy;
  call.info(
    `${policy.path}: everything of ${keep.days} days and the newest ${keep.newest} states are kept, and of older ones what ${keep.rules.length} rules say; the boot menu shows at most ${menu.states} states`,
  );
}
