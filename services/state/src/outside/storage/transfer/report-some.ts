import type { Member } from '../../../model/model.ts';
import { pathIn } from '../../../model/path-text.ts';

const MAX_LINES = 20;

/** Tells a caller about single files of a member, at most so many. @param lines begin with path texts below the member */
export function reportSome(
  lines: readonly string[],
  { path }: Pick<Member, 'path'>,
  report: (line: string) => void,
): void {
  for (const line of lines.slice(0, MAX_LINES)) report(pathIn(path, line));
  if (lines.length > MAX_LINES) report(`and ${lines.length - MAX_LINES} more of ${path}`);
}
