import { Failure } from '@croft/failure';
import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { tooManyCalls } from '../failures.ts';
import { type Caller, callerText } from '../rules/access/access.ts';
import { callLimitsOf } from '../rules/access/call-limits.ts';
import type { AccessControl } from './doors/access-control.ts';

/** Counts the calls in flight of each caller, so that nobody takes the memory that the others need. */
class CallsInFlight {
  readonly #counts = new Map<string, { calls: number; endless: number }>();
  readonly #daemonUid = process.getuid?.();

  /** @returns what ends the call @throws RESOURCE_EXHAUSTED */
  enter(caller: Caller, endless: boolean): () => void {
    const name = callerText(caller);
    const limits = callLimitsOf(caller, this.#daemonUid);
    const counts = this.#counts.get(name) ?? { calls: 0, endless: 0 };
    if (counts.calls >= limits.calls) throw tooManyCalls(name, limits.calls, 'calls');
    if (endless && counts.endless >= limits.endless) throw tooManyCalls(name, limits.endless, 'Watch calls');
    this.#counts.set(name, counts);
    counts.calls++;
    if (endless) counts.endless++;
    return () => {
      counts.calls--;
      if (endless) counts.endless--;
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
          leave = inFlight.enter(caller, method.path.endsWith('/Watch'));
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
