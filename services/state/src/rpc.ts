import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { commitBoot } from './boot/commit-boot.ts';
import { prepareBoot } from './boot/prepare-boot.ts';
import { updateBootMenu } from './boot/update-boot-menu.ts';
import { updateLastUsed } from './boot/update-last-used.ts';
import type { Call, Context } from './context.ts';
import { refresh } from './daemon/refresh.ts';
import { reloadPolicy } from './daemon/reload-policy.ts';
import { setLoggingLevel } from './daemon/set-logging-level.ts';
import { showStatus } from './daemon/show-status.ts';
import { stopDaemon } from './daemon/stop-daemon.ts';
import { takeTrace } from './daemon/take-trace.ts';
import { listMachines } from './machines/list-machines.ts';
import { showMachine } from './machines/show-machine.ts';
import { rights } from './rules/access/rights.ts';
import { type Operation, type Service, serve } from './server/serve.ts';
import { collectGarbage } from './states/collect-garbage.ts';
import { dumpStates } from './states/dump-states.ts';
import { removeSystemState } from './states/remove-system-state.ts';
import { removeUserState } from './states/remove-user-state.ts';
import { saveSystemState } from './states/save-system-state.ts';
import { saveUserState } from './states/save-user-state.ts';
import { changeHome } from './user-data/change-home.ts';
import { createUserData } from './user-data/create-user-data.ts';
import { dissociateUser } from './user-data/dissociate-user.ts';
import type { OperationName } from './wire.ts';

type Operations = { readonly [N in OperationName]: Operation<N> };

/** Every operation of the contract. */
const operations: Operations = {
  CreateUserData: linesOnly(createUserData),
  ChangeHomeOnUserData: linesOnly(changeHome),
  DissociateUser: linesOnly(dissociateUser),

  PrepareBoot: async (_request, call, context) => [{ changed: await prepareBoot(call, context) }],
  CommitBoot: async (_request, call, context) => [{ changed: await commitBoot(call, context) }],
  UpdateBootMenu: linesOnly(updateBootMenu),
  UpdateLastUsed: linesOnly((_request, call, context) => updateLastUsed(call, context)),

  SaveSystemState: async (request, call, context) => [
    { stateName: await saveSystemState(request, call, context) },
  ],
  SaveUserState: async (request, call, context) => [
    { stateName: await saveUserState(request, call, context) },
  ],
  RemoveSystemState: linesOnly(removeSystemState),
  RemoveUserState: linesOnly(removeUserState),
  DumpStates: async (_request, _call, context) => dumpStates(context).map((states) => ({ states })),

  DaemonStop: linesOnly((_request, call, context) => stopDaemon(call, context)),
  LoggingLevel: linesOnly(setLoggingLevel),
  Refresh: linesOnly((_request, call, context) => refresh(call, context)),
  Trace: async (request, call, context) =>
    (await takeTrace(request, call, context)).map((trace) => ({ trace })),
  Status: linesOnly((_request, call, context) => showStatus(call, context)),
  Reload: linesOnly((_request, call, context) => reloadPolicy(call, context)),
  GC: linesOnly(collectGarbage),

  MachineShow: async (request, _call, context) =>
    showMachine(request, context).map((machineInfo) => ({ machineInfo })),
  MachineList: async (_request, _call, context) =>
    listMachines(context).map((machineList) => ({ machineList })),

  Version: async (_request, _call, context) => [{ version: context.version }],
};

/** An operation that only tells what it does. */
export function linesOnly<R>(work: (request: R, call: Call, context: Context) => Promise<void>) {
  return async (request: R, call: Call, context: Context): Promise<never[]> => {
    await work(request, call, context);
    return [];
  };
}

/** The names of all operations of the contract. */
export const operationNames = Object.keys(operations) as OperationName[];

/** The operations as the gRPC server takes them. */
export function stateService(service: Service): UntypedServiceImplementation {
  return Object.fromEntries(
    operationNames.map((name) => [
      name,
      serve({ name, right: rights[name], operation: operations[name] }, service),
    ]),
  );
}
