import type { Call, Context } from '../context.ts';

/** Ends the daemon once this call has been answered; calls in flight finish within the grace time. */
export async function stopDaemon(call: Call, context: Context): Promise<void> {
  context.log.info({ requestId: call.requestId }, 'asked to stop');
  call.info('the daemon is stopping');
  // After the answer: stopping refuses calls, and this one would be among those it waits for.
  setImmediate(context.stop);
}
