import { alreadyMerged, unacceptable } from '../../failures.ts';
import { decideDeadline } from './deadline.ts';
import { checkText } from './text-limits.ts';

/** Longest title; the reference has the same column width. */
export const MAX_TITLE = 255;

/** What an edit can change, as it stands. */
export interface Editable {
  title: string;
  body: string;
  ref: string;
  deadline_at: Date | null;
  closed_at: Date | null;
  /** For a pull request. */
  merged_at: Date | null;
}

/** What somebody wants of it; what is absent stays. */
export interface WantedEdit {
  title?: string | null | undefined;
  body?: string | null | undefined;
  ref?: string | null | undefined;
  deadline?: string | null | undefined;
  removeDeadline?: boolean | null | undefined;
  state?: string | null | undefined;
}

/** The edited thing, and whether that opens or closes it. */
export interface PlannedEdit {
  result: Pick<Editable, 'title' | 'body' | 'ref' | 'deadline_at' | 'closed_at'>;
  transition: 'close' | 'reopen' | undefined;
}

/**
 * Plans an edit; deadlines change for writers only, and are dropped silently for others.
 * @throws 412 for the state of a merged pull request, 422 for texts that are too long
 */
export function planEdit(current: Editable, wanted: WantedEdit, isWriter: boolean, now: Date): PlannedEdit {
  checkTexts(wanted);
  const transition = decideTransition(current, wanted.state);
  const deadline = isWriter ? decideDeadline(wanted) : undefined;
  return {
    transition,
    result: {
      // Edit rule: a title applies when it is not empty.
      title: wanted.title?.trim() || current.title,
      body: wanted.body ?? current.body,
      ref: wanted.ref ?? current.ref,
      deadline_at: deadline === undefined ? current.deadline_at : deadline,
      closed_at: transition === undefined ? current.closed_at : transition === 'close' ? now : null,
    },
  };
}

/**
 * What an edit is refused for first.
 * @throws 422 for texts that are too long
 */
export function checkTexts({ title, body }: WantedEdit): void {
  checkTitle(title?.trim() ?? '');
  checkText(body ?? '');
}

/** @throws 422 for a title that is too long */
export function checkTitle(title: string): string {
  if (Array.from(title).length > MAX_TITLE) throw unacceptable(`[Title]: MaxSize(${MAX_TITLE})`);
  return title;
}

/** State rule: `closed` closes, any other value reopens; the state it has already is no change. */
function decideTransition(
  current: Editable,
  wanted: string | null | undefined,
): 'close' | 'reopen' | undefined {
  if (wanted === undefined || wanted === null) return undefined;
  if (current.merged_at !== null) throw alreadyMerged();
  const close = wanted === 'closed';
  if (close === (current.closed_at !== null)) return undefined;
  return close ? 'close' : 'reopen';
}
