import type { MergeStyle } from './merge-style.ts';

/** What a pull request says in messages. */
export interface PullWords {
  title: string;
  number: number;
  body: string;
  posterName: string;
  baseBranch: string;
  headBranch: string;
  /** Owner and name of the repositories; the head's is undefined when it is deleted. */
  baseRepository: { owner: string; name: string };
  headRepository: { owner: string; name: string } | undefined;
  /** Numbers of issues that its words close. */
  closes: readonly number[];
}

/** The caller's words, if any. */
export interface WantedMessage {
  title: string;
  message: string;
}

/**
 * Merge rule 6: the caller's trimmed title, or else the template's or the style's own; what the caller adds follows after a
 * blank line, else the rest of the template, whose first line is the title.
 */
export function mergeMessage(
  wanted: WantedMessage,
  style: MergeStyle,
  pull: PullWords,
  template: string | undefined,
): string {
  const standard = template === undefined ? '' : fillTemplate(template, pull);
  const [standardTitle = '', ...rest] = standard.trimStart().split('\n');
  const title = wanted.title.trim() || standardTitle.trim() || standardTitleOf(style, pull);
  const body = wanted.message.trim() || (wanted.title.trim() === '' ? rest.join('\n').trim() : '');
  return body === '' ? title : `${title}\n\n${body}`;
}

/** Trailers of a squash whose author is not who merges. */
export function coAuthors(message: string, author: string, committer: string): string {
  if (author === committer) return message;
  return `${message}\n\nCo-authored-by: ${author}\nCo-committed-by: ${committer}`;
}

/** File of the template of a style, on the default branch. */
export const templatePath = (style: MergeStyle) =>
  `.gitea/default_merge_message/${style.toUpperCase()}_TEMPLATE.md`;

function standardTitleOf(style: MergeStyle, pull: PullWords): string {
  const { title, number, headBranch, baseBranch } = pull;
  if (style === 'squash') return `${title} (#${number})`;
  return `Merge pull request '${title}' (#${number}) from ${placeOf(pull)}${headBranch} into ${baseBranch}`;
}

/** The head's repository where it is not the base's. */
function placeOf({ baseRepository: base, headRepository: head }: PullWords): string {
  if (head === undefined) return '<deleted>:';
  const same = head.owner === base.owner && head.name === base.name;
  return same ? '' : `${head.owner}/${head.name}:`;
}

/** Replaces `${Name}`; a name nobody knows stays as it is. */
function fillTemplate(template: string, pull: PullWords): string {
  const values: Readonly<Record<string, string>> = {
    PullRequestTitle: pull.title,
    PullRequestDescription: pull.body,
    PullRequestPosterName: pull.posterName,
    PullRequestIndex: String(pull.number),
    PullRequestReference: `#${pull.number}`,
    BaseRepoOwnerName: pull.baseRepository.owner,
    BaseRepoName: pull.baseRepository.name,
    BaseBranch: pull.baseBranch,
    HeadRepoOwnerName: pull.headRepository?.owner ?? '',
    HeadRepoName: pull.headRepository?.name ?? '',
    HeadBranch: pull.headBranch,
    ClosingIssues: pull.closes.map((number) => `close #${number}`).join(', '),
  };
  return template.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : whole,
  );
}
