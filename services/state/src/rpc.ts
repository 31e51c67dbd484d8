import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Context } from './context.ts';
import { setLoggingLevel } from './daemon/set-logging-level.ts';
import { showStatus } from './daemon/show-status.ts';
import { stopDaemon } from './daemon/stop-daemon.ts';
import { notAvailableYet } from './failures.ts';
import { listMachines } from './machines/list-machines.ts';
import { showMachine } from './machines/show-machine.ts';
import type { Gate } from './server/gate.ts';
import { type Operation, serve } from './server/serve.ts';
import { dumpStates } from './states/dump-states.ts';
import { removeSystemState } from './states/remove-system-state.ts';
import { saveSystemState } from './states/save-system-state.ts';
import type { OperationName } from './wire.ts';

type Operations = { readonly [N in OperationName]: Operation<N> };

/** Every operation of the contract. */
const operations: Operations = {
  CreateUserData: notYet,
  ChangeHomeOnUserData: notYet,
  DissociateUser: notYet,

  PrepareBoot: notYet,
  CommitBoot: notYet,
  UpdateBootMenu: notYet,
  UpdateLastUsed: notYet,

  SaveSystemState: async (request, call, context) => [
    { stateName: await saveSystemState(request, call, context) },
  ],
  SaveUserState: notYet,
  RemoveSystemState: async (request, call, context) => {
    await removeSystemState(request, call, context);
    return [];
  },
  RemoveUserState: notYet,
  DumpStates: async (_request, _call, context) => dumpStates(context).map((states) => ({ states })),

  DaemonStop: async (_request, call, context) => {
    await stopDaemon(call, context);
    return [];
  },
  LoggingLevel: async (request, call, context) => {
    await setLoggingLevel(request, call, context);
    return [];
  },
  Refresh: notYet,
  Trace: notYet,
  Status: async (_request, call, context) => {
    await showStatus(call, context);
    return [];
  },
  Reload: notYet,
  GC: notYet,

  MachineShow: async (request, _call, context) => [{ machineInfo: showMachine(request, context) }],
  MachineList: async (_request, _call, context) => [{ machineList: listMachines(context) }],

  Version: async (_request, _call, context) => [{ version: context.version }],
};

/** The names of all operations of the contract. */
export const operationNames = Object.keys(operations) as OperationName[];

/** The operations as the gRPC server takes them. */
export function stateService(context: Context, gate: Gate): UntypedServiceImplementation {
  return Object.fromEntries(
    operationNames.map((name) => [name, serve(name, operations[name], context, gate)]),
  );
}

/** The answer of operations that have no room yet: never a success that did nothing. */
async function notYet(_request: unknown, call: { readonly operation: string }): Promise<never> {
  const available = operationNames.filter((name) => operations[name] !== (notYet as unknown));
  throw notAvailableYet(call.operation, available);
}
