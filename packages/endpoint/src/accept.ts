// Tree, version and format of a vendor media type; its suffix and parameters come after.
const vendorType = /application\/vnd\.([^\s,;+]+)(?:\+[^\s,;]+)?/gi;

/** Puts `format` into every vendor media type of an `accept` header; tree and version stay, previews are left alone. */
export function withFormat(accept: string, format: string): string {
  return accept.replace(vendorType, (type, name: string) => {
    if (name.endsWith('-preview')) return type;
    const stem =
      /^.*\.v\d+(?=\.|$)/.exec(name)?.[0] ??
      // Without a version only a known format is taken for one: `acme.shop` is a tree.
      name.replace(/\.(raw|text|html|full|diff|patch|sha|object|base64)$/, '');
    return `application/vnd.${stem}.${format}`;
  });
}

/** The `accept` header of a GraphQL request: the previews it names already, then `previews`, and nothing else. */
export function withPreviews(
  accept: string,
  previews: readonly string[],
  format: string | undefined,
): string {
  let tree: string | undefined;
  const names: string[] = [];
  for (const [, name = ''] of accept.matchAll(vendorType)) {
    const labels = name.split('.');
    if (name.endsWith('-preview')) names.push((labels.pop() as string).slice(0, -8));
    tree ??= labels[0];
  }
  return [...new Set([...names, ...previews])]
    .map((name) => `application/vnd.${tree ?? 'croft'}.${name}-preview${format ? `.${format}` : '+json'}`)
    .join();
}
