import type { Model } from '../../model/model.ts';
import type { OperationName, RequestOf } from '../../wire.ts';

/**
 * Who may call an operation besides administrators: with `read` every local user; with `own` the user whose state it is,
 * told by the request or, where that names a state, by the model; with `admin` nobody.
 */
export type Right<R> = 'read' | 'admin' | { readonly own: (request: R, model: Model) => string | undefined };

/** Who may call what. An operation without a line here does not compile. */
export const rights: { readonly [N in OperationName]: Right<RequestOf<N>> } = {
  Version: 'read',
  Status: 'read',
  MachineList: 'read',
  MachineShow: 'read',
  DumpStates: 'read',

  SaveUserState: { own: ({ userName }) => userName },
  RemoveUserState: { own: ({ userName }) => userName },

  CreateUserData: 'admin',
  ChangeHomeOnUserData: 'admin',
  DissociateUser: 'admin',
  PrepareBoot: 'admin',
  CommitBoot: 'admin',
  UpdateBootMenu: 'admin',
  UpdateLastUsed: 'admin',
  SaveSystemState: 'admin',
  RemoveSystemState: 'admin',
  DaemonStop: 'admin',
  LoggingLevel: 'admin',
  Refresh: 'admin',
  Trace: 'admin',
  Reload: 'admin',
  GC: 'admin',
};
