import { MAX_TEXT } from '../issues/text-limits.ts';
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
  /** Numbers of issues that its words close; not looked for where no template names them. */
  closes: readonly number[];
  /** Address of its page. */
  page: string;
  /** Who approves it, as `Name <address>`. */
  approvers: readonly string[];
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
  const own = ownMessage(wanted);
  if (own !== undefined) return own;
  const standard = splitMessage(template === undefined ? '' : fillTemplate(template, valuesOf(pull)));
  const title = standard.title || standardTitleOf(style, pull);
  return joinMessage(title, wanted.message.trim() || standard.body);
}

/** The caller's message where he gave a title, for which nothing else need be known; else undefined. */
export function ownMessage({ title, message }: WantedMessage): string | undefined {
  return title.trim() === '' ? undefined : joinMessage(title.trim(), message.trim());
}

/**
 * The words of the last commit of a rebase by the template for that: the only commit of it that has words of the
 * repository, as none is made but those of the head. Where the template says nothing it keeps its own.
 */
export function rebaseMessage(original: string, pull: PullWords, template: string): string {
  const { title: CommitTitle, body: CommitBody } = splitMessage(original);
  const { title, body } = splitMessage(
    fillTemplate(template, { ...valuesOf(pull), CommitTitle, CommitBody }),
  );
  return title === '' ? original : joinMessage(title, body);
}

function splitMessage(text: string): { title: string; body: string } {
  const [title = '', ...rest] = text.trimStart().split('\n');
  return { title: title.trim(), body: rest.join('\n').trim() };
}

const joinMessage = (title: string, body: string) => (body === '' ? title : `${title}\n\n${body}`);

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

/** What a template can name. */
function valuesOf(pull: PullWords): Readonly<Record<string, string>> {
  return {
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
    ReviewedOn: `Reviewed-on: ${pull.page}`,
    ReviewedBy: pull.approvers.map((approver) => `Reviewed-by: ${approver}`).join('\n'),
  };
}

/**
 * Replaces `${Name}`; a name nobody knows stays as it is. So does one whose value there is no room for: a small template that
 * names a long text often would be a message that no process can hold.
 */
function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  let room = MAX_TEXT;
  return template.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] as string) : whole;
    if (value.length > room) return whole;
    room -= value.length;
    return value;
  });
}
