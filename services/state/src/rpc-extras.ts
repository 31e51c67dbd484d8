import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { cancelRevert, requestRevert } from './boot/request-revert.ts';
import { diffStates } from './contents/diff-states.ts';
import { exportState } from './contents/export-state.ts';
import { importState } from './contents/import-state.ts';
import type { Call, Context } from './context.ts';
import { watchHappenings } from './daemon/watch-happenings.ts';
import { adoptMachine } from './machines/adopt-machine.ts';
import { linesOnly } from './rpc.ts';
import { extraRights } from './rules/access/rights-extras.ts';
import { type Results, type Service, serve } from './server/serve.ts';
import { describeState, pinState } from './states/annotate-state.ts';
import type { ExtraName, ExtraRequestOf, ExtraResultOf } from './wire-extras.ts';

type ExtraOperation<N extends ExtraName> = (
  request: ExtraRequestOf<N>,
  call: Call,
  context: Context,
) => Promise<Results<ExtraResultOf<N>>>;

/** Every operation of `StateExtras`. */
const operations: { readonly [N in ExtraName]: ExtraOperation<N> } = {
  Describe: linesOnly(describeState),
  Pin: linesOnly((request, call, context) => pinState(request, true, call, context)),
  Unpin: linesOnly((request, call, context) => pinState(request, false, call, context)),
  RequestRevert: linesOnly(requestRevert),
  CancelRevert: linesOnly((_request, call, context) => cancelRevert(call, context)),
  Diff: diffStates,
  Export: exportState,
  Import: async (request, call, context) => [{ stateName: await importState(request, call, context) }],
  Adopt: async (request, call, context) => [await adoptMachine(request, call, context)],
  Watch: async (_request, call, context) => watchHappenings(call, context),
};

/** The names of all operations of `StateExtras`. */
export const extraNames = Object.keys(operations) as ExtraName[];

/** The operations as the gRPC server takes them. */
export function stateExtras(service: Service): UntypedServiceImplementation {
  return Object.fromEntries(
    extraNames.map((name) => [
      name,
      serve(
        { name, right: extraRights[name], operation: operations[name], endless: name === 'Watch' },
        service,
      ),
    ]),
  );
}
