/**
 * Whether git takes the name for a branch (git-check-ref-format). Names that come with a request are checked before
 * git sees them, because `main~1` or `main@{1}` would otherwise be read as an expression and find a commit. Names in
 * `refs/`, which git would take, are refused as in a push: refs/heads/refs/heads/x would answer for a missing branch x.
 */
export function isBranchName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= 255 &&
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    !/\.\.|@\{|\/\/|^\/|\/$|\.$|^-|^@$|^refs\//.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
