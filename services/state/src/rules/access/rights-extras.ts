import type { ExtraName, ExtraRequestOf } from '../../wire-extras.ts';
import type { Right } from './rights.ts';

/** The user whose state it is; of states of the system nobody but administrators. */
const own = { own: ({ userName }: { readonly userName: string }) => userName || undefined };

/** Who may call what of `StateExtras`. An operation without a line here does not compile. */
export const extraRights: { readonly [N in ExtraName]: Right<ExtraRequestOf<N>> } = {
  Describe: own,
  Pin: own,
  Unpin: own,
  // What it shows is in DumpStates, too; what people wrote about their states is not in it.
  Watch: 'read',
  // They read as the daemon does: a home can hold what its user may not read.
  Diff: 'admin',
  Export: 'admin',
  RequestRevert: 'admin',
  CancelRevert: 'admin',
  Import: 'admin',
  Adopt: 'admin',
};
