/**
 * Whether git makes a branch of the name (git-check-ref-format --branch), which it does not of `HEAD`: that is the default
 * branch wherever a commit is named. Names that come with a request are checked before git sees them, because `main~1` or
 * `main@{1}` would otherwise be read as an expression and find a commit. Names in `refs/`, which git would take, are refused as
 * in a push: refs/heads/refs/heads/x would answer for a missing branch x.
 */
export function isBranchName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= 255 &&
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    !/\.\.|@\{|\/\/|^\/|\/$|\.$|^-|^@$|^HEAD$|^refs\//.test(name) &&
    name.split('/').every(isFileName)
  );
}

/** Each part is a file or a folder, of which the lock has five letters more than a file system's 255 bytes may hold. */
const isFileName = (part: string) =>
  !part.startsWith('.') && !part.endsWith('.lock') && Buffer.byteLength(part) <= MAX_BYTES;
const MAX_BYTES = 250;
