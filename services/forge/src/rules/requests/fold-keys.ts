/** Names the contract itself uses for fields that are called differently on the wire. */
const ALIASES = new Map([
  ['deadline', 'due_date'],
  ['removedeadline', 'unset_due_date'],
]);

/**
 * Gives the keys of a body the spelling of the known ones, compared without case and underscores: clients send
 * `Do`, `do`, `MergeTitleField` and `merge_title_field` (decisions §5.9). Of several spellings the last one counts.
 */
export function foldKeys(
  body: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Record<string, unknown> {
  const spelling = new Map(known.map((key) => [fold(key), key]));
  const folded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const name = spelling.get(fold(key)) ?? spelling.get(fold(ALIASES.get(fold(key)) ?? ''));
    if (name !== undefined) folded[name] = value;
  }
  return folded;
}

const fold = (key: string) => key.toLowerCase().replaceAll('_', '');
