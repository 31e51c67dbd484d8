/**
 * Whether git makes a branch of the name (git-check-ref-format --branch), which it does not of `HEAD`: that is the default
 * branch wherever a commit is named. Names that come with a request are checked before git sees them, because `main~1` or
 * `main@{1}` would otherwise be read as an expression and find a commit. Names in `refs/`, which git would take, are refused as
 * in a push: refs/heads/refs/heads/x would answer for a missing branch x.
 */
export function isBranchName(name: string): boolean {
  return (
    name.length <= 255 &&
    isRefName(name) &&
    !/^-|^HEAD$|^refs\//.test(name) &&
    name.split('/').every((part) => Buffer.byteLength(part) <= MAX_BYTES)
  );
}

/** Each part is a file or a folder, of which the lock has five letters more than a file system's 255 bytes may hold. */
const MAX_BYTES = 250;

/** Whether a ref can have the name at all, `refs/heads/main` as well as `main`: git-check-ref-format --allow-onelevel. */
export function isRefName(name: string): boolean {
  return (
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    !/\.\.|@\{|\.$|^@$/.test(name) &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
