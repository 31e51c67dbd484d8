/** How changes are shown; only the last two can be applied when binary files changed. */
export type DiffFormat = 'diff' | 'binary-diff' | 'patch';

/** What the suffix of the path asks for. A patch has its binary files always; a diff when `binary` says so. */
export function decideDiffFormat(suffix: 'diff' | 'patch', binary: string | undefined): DiffFormat {
  if (suffix === 'patch') return 'patch';
  return /^(1|t|true)$/i.test(binary ?? '') ? 'binary-diff' : 'diff';
}
