/** A name and an address as a request gives them. */
export interface GivenIdentity {
  name?: string | null | undefined;
  email?: string | null | undefined;
}

/** What a request says of the people of a commit. */
export interface GivenPeople {
  author?: GivenIdentity | null | undefined;
  committer?: GivenIdentity | null | undefined;
}

/** Author and committer: who is not given is the other, or the caller; so is a missing name or address. */
export function commitPeople(
  given: GivenPeople,
  caller: { name: string; email: string },
): { author: { name: string; email: string }; committer: { name: string; email: string } } {
  const complete = (identity: GivenIdentity | null | undefined) => ({
    name: identity?.name?.trim() || caller.name,
    email: identity?.email?.trim() || caller.email,
  });
  return {
    author: complete(given.author ?? given.committer),
    committer: complete(given.committer ?? given.author),
  };
}

/** The message of a commit that changes files: the given one, or what it does to each of them. */
export function fileMessage(
  given: string,
  changes: readonly { operation: string; path: string; created: boolean }[],
  signer: { name: string; email: string } | undefined,
): string {
  const verb = ({ operation, created }: { operation: string; created: boolean }) =>
    operation === 'delete' ? 'Delete' : created ? 'Add' : 'Update';
  const message = given.trim() || changes.map((change) => `${verb(change)} ${change.path}`).join('\n');
  return signer === undefined ? message : `${message}\n\nSigned-off-by: ${signer.name} <${signer.email}>`;
}
