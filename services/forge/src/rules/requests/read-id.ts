/** The id of a row in a path; 0, which none has, for anything else. */
export function readId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** The number of an issue or pull request in a path; 0, which none has, for anything else. */
export function readIndex(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
