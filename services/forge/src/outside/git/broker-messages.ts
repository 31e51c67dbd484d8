/** What the broker is asked to do. */
export type BrokerRequest = StartRequest | { kill: string };

/** Start a program; its channels connect to the broker's socket and present the ticket. */
export interface StartRequest {
  /** Random, hard to guess: names the job and admits its connections. */
  start: string;
  command: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Whether the program reads standard input; without it, it finds it empty. */
  input: boolean;
}

/** How a program ended. */
export interface BrokerReport {
  ticket: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The first kilobytes of standard error. */
  stderr: string;
  /** Whether its channels were connected; the connections may be noticed after this report. */
  connected: boolean;
}

/** Characters of a ticket on the socket; one more names the channel. */
export const TICKET_LENGTH = 32;

/** File name of the socket in the broker's folder. */
export const SOCKET_NAME = 'broker.sock';
