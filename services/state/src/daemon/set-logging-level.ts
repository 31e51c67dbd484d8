import type { Log } from '@croft/runtime';
import type { Call, Context } from '../context.ts';
import { badLoggingLevel, fixedLoggingLevel } from '../failures.ts';
import type { RequestOf } from '../wire.ts';

/** The contract's numbers in the words of the log. */
const LEVELS = ['warn', 'info', 'debug'];

/** Changes how much the daemon's own log has; the lines callers get stay the same. Lasts until the daemon ends. */
export async function setLoggingLevel(
  request: RequestOf<'LoggingLevel'>,
  call: Call,
  context: Context,
): Promise<void> {
  const level = LEVELS[request.logginglevel];
  if (level === undefined) throw badLoggingLevel(request.logginglevel);
  // `Log` has no level of its own; the real one behind it has.
  const log: Log & { level?: unknown } = context.log;
  if (typeof log.level !== 'string') throw fixedLoggingLevel();
  log.level = level;
  call.info(`the daemon logs from ${level} on`);
}
