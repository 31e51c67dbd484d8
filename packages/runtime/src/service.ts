/** A service that is up: it answers requests until it is closed. */
export interface RunningService {
  readonly name: string;
  /** Where people and clients reach it, such as `http://127.0.0.1:8081`. */
  readonly address: string;
  /** Lets requests in flight finish, for at most `graceMs`, then ends what is left. Safe to call twice. */
  close(graceMs: number): Promise<void>;
}

/** A service cannot start for a reason the person at the terminal can mend: printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
