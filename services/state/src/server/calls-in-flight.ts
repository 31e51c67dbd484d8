import { Failure } from '@croft/failure';
import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { tooManyCalls } from '../failures.ts';
import { type Caller, callerText } from '../rules/access/access.ts';
import { type CallKind, type CallLimits, callKindOf, callLimitsOf } from '../rules/access/call-limits.ts';
import type { AccessControl } from './doors/access-control.ts';

/** What the calls that are counted are called. */
const NAMES: Readonly<Record<keyof CallLimits, string>> = {
  calls: 'calls',
  endless: 'Watch calls',
  documents: 'calls of DumpStates, MachineList and MachineShow',
  writes: 'calls that write',
};

/** Counts the calls in flight of each caller, so that nobody takes the memory and the turns that the others need. */
class CallsInFlight {
  readonly #counts = new Map<string, Record<keyof CallLimits, number>>();
  readonly #daemonUid = process.getuid?.();

  /** @returns what ends the call @throws RESOURCE_EXHAUSTED */
  enter(caller: Caller, kind: CallKind | undefined): () => void {
    const name = callerText(caller);
    const limits = callLimitsOf(caller, this.#daemonUid);
    const counts = this.#counts.get(name) ?? { calls: 0, endless: 0, documents: 0, writes: 0 };
    const counted: readonly (keyof CallLimits)[] = kind === undefined ? ['calls'] : ['calls', kind];
    const full = counted.find((each) => counts[each] >= limits[each]);
    if (full !== undefined) throw tooManyCalls(name, limits[full], NAMES[full]);
    this.#counts.set(name, counts);
    for (const each of counted) counts[each]++;
    return () => {
      for (const each of counted) counts[each]--;
      if (counts.calls === 0) this.#counts.delete(name);
    };
  }
}

/** Refuses calls of callers that have too many in flight, those of health and reflection included, before anything is made for them. */
export function limitCalls(access: AccessControl): ServerInterceptor {
  const inFlight = new CallsInFlight();
  return (method, call) => {
    let leave = () => {};
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          const caller = access.callerOf({ metadata, getPeer: () => call.getPeer() });
          leave = inFlight.enter(caller, callKindOf(method.path));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: error.message });
          return;
        }
        next(metadata);
      })
      // Comes once for every call, also for one that ended well.
      .withOnCancel(() => leave())
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}
