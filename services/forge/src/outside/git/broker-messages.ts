/** What the broker is asked to do. */
export type BrokerRequest = StartRequest | { kill: number };

/** Start a program on channels that are connected already. */
export interface StartRequest {
  /** Names the job. */
  start: number;
  command: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Name of the channel that becomes standard input; without one the program finds it empty. */
  stdin: string | undefined;
  stdout: string;
}

/** That connections are accepted now, or how a program ended. */
export type BrokerReport = 'listening' | ExitReport;

/** How a program ended. */
export interface ExitReport {
  job: number;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The first kilobytes of standard error. */
  stderr: string;
}

/** Bytes with which the broker greets every connection: the name of the channel. */
export const CHANNEL_NAME_LENGTH = 12;

/** File name of the socket in the broker's folder. */
export const SOCKET_NAME = 'broker.sock';
