import { pino } from 'pino';

/** Structured log: fields first, then the message, as pino has it. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/** The words `LOG_LEVEL` may have; `panic` is the contract's word for nothing but the end of the process. */
export const logLevels = ['panic', 'fatal', 'error', 'warn', 'info', 'debug'] as const;

/** How much is logged. */
export type LogLevel = (typeof logLevels)[number];

/** Lines that could not be written are kept up to so many characters, and follow once there is room again. */
const MAX_UNWRITTEN = 2 ** 20;

/**
 * One JSON line an event, to standard error or a file: standard output belongs to the person at the terminal. A log that cannot be
 * written, as on a full disk, loses lines and nothing else; of a file that is told once on standard error.
 */
export function createLog(options: { level: LogLevel; file?: string | undefined }): Log {
  const destination = pino.destination({
    dest: options.file ?? 2,
    sync: true,
    mkdir: true,
    maxLength: MAX_UNWRITTEN,
  });
  let told = options.file === undefined;
  // Unheard, it would be thrown at whoever logs, who is answering somebody.
  destination.on('error', (error: Error) => {
    if (told) return;
    told = true;
    process.stderr.write(
      `The log ${options.file} cannot be written: ${error.message}. Lines are lost until it can.\n`,
    );
  });
  return pino(
    {
      level: options.level === 'panic' ? 'fatal' : options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/** A log that nobody reads. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};
