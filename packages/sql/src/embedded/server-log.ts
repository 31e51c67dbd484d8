import type { Log } from '@croft/runtime';

/** Every line says which of PostgreSQL's processes wrote it; `lc_messages` keeps the words ours to read. */
export const LOG_SETTINGS = {
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%b|',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  lc_messages: 'C',
};

/** Reads what the server prints: passes it to our log, notices that it is ready, remembers the end for messages. */
export class ServerLog {
  readonly ready: Promise<void>;
  readonly #tail: string[] = [];
  readonly #log: Log;
  readonly #onReady: () => void;

  constructor(log: Log) {
    this.#log = log;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#onReady = resolve;
  }

  /** A client's own mistakes are told to that client, so they count as detail here. */
  readonly take = (line: string): void => {
    this.#tail.push(line);
    if (this.#tail.length > 40) this.#tail.shift();
    const [, source = 'postgres', severity = 'LOG', message = line] = LINE.exec(line) ?? [];
    if (message.includes('is ready to accept connections')) this.#onReady();
    const grave = /ERROR|FATAL|PANIC|WARNING/.test(severity) && source !== 'client backend';
    if (grave || severity === 'PANIC') this.#log.warn({ postgres: source, severity }, message);
    else this.#log.debug({ postgres: source, severity }, message);
  };

  /** The last lines, for patterns. */
  get tail(): string {
    return this.#tail.join('\n');
  }

  /** The line that most probably says why the server ended. */
  get reason(): string {
    const grave = this.#tail.filter((line) => /\|(?:FATAL|PANIC): /.test(line)).at(-1) ?? this.#tail.at(-1);
    return grave?.replace(LINE, '$3') ?? 'it printed nothing';
  }
}

const LINE = /^([a-z /()]*)\|([A-Z]+): +(.*)$/;
