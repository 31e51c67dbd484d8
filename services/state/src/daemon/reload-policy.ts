import type { Call, Context } from '../context.ts';
import { counted } from '../rules/machines/sizes.ts';

/** Reads the policy file and the certificates again; what is wrong stays as it was. */
export async function reloadPolicy(call: Call, { policy, tls }: Context): Promise<void> {
  await policy.reload();
  const { keep, menu } = policy.policy;
  if (tls !== undefined) {
    await tls.reload();
    call.info('new connections over TLS get the certificates as they are now');
  }
  call.info(
    `${policy.path}: everything of ${counted(keep.days, 'day')} and the newest ${counted(keep.newest, 'state')} are kept, and of older ones what ${counted(keep.rules.length, 'rule says', 'rules say')}; the boot menu shows at most ${counted(menu.states, 'state')}`,
  );
}
