import type { Log } from '@croft/runtime';

/** A line of a log. */
export interface LogFields {
  level: string;
  message: string;
  fields: object;
}

/** A log that keeps its lines. */
export function logLines(lines: LogFields[]): Log {
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return log;
}
