/** Another form of the answer that `Accept` asks for, with the media types of our request builder (decisions §5.14). */
export function readMediaType(accept: string): 'diff' | 'patch' | 'raw' | undefined {
  const format = /application\/vnd\.croft\.v3\.(diff|patch|raw)\b/.exec(accept)?.[1];
  return format === 'diff' || format === 'patch' || format === 'raw' ? format : undefined;
}
