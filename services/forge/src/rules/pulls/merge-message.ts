/** What a merge message is made of. */
export interface MergeMessageParts {
  /** The caller's words, if any. */
  title: string;
  message: string;
  pull: { title: string; number: number; headBranch: string; baseBranch: string };
}

/** Merge rule 6: the trimmed title, or the default of the style; a message follows after a blank line. */
export function mergeMessage({ title, message, pull }: MergeMessageParts): string {
  const standard = `Merge pull request '${pull.title}' (#${pull.number}) from ${pull.headBranch} into ${pull.baseBranch}`;
  const first = title.trim() || standard;
  return message.trim() === '' ? first : `${first}\n\n${message.trim()}`;
}
