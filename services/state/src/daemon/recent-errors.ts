/** Something a caller was told that the operator should know of. */
interface RecentError {
  readonly at: Date;
  readonly operation: string;
  readonly message: string;
}

const KEPT = 5;

/** The last few errors, for Status. */
export class RecentErrors {
  readonly #errors: RecentError[] = [];

  add(error: RecentError): void {
    this.#errors.unshift(error);
    this.#errors.length = Math.min(this.#errors.length, KEPT);
  }

  /** Newest first. */
  list(): readonly RecentError[] {
    return this.#errors;
  }
}
