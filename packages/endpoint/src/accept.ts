/** Puts `format` into every vendor media type of an `accept` header; tree and version stay, previews are left alone. */
export function withFormat(accept: string, format: string): string {
  return accept.replace(
    // Labels up to a version, else the first one; what is quoted is no type
    /(\/vnd\.(?![\w.-]*-preview)(?:[\w.-]*?\.v\d+(?![\w-])|[\w-]+))[^\s,;]*|"(?:\\.|[^"\\])*"?/g,
    (whole, stem) => (stem ? `${stem}.${format}` : whole),
  );
}

/** The `accept` header of a GraphQL request: the previews it names already, then `previews`, and nothing else. */
export function withPreviews(accept: string, previews: readonly string[], format = ''): string {
  const names = accept.split(/[^\w-]/).filter((word) => word.endsWith('-preview'));
  for (const name of previews) names.push(`${name.replace('-preview', '')}-preview`);
  const tree = String(/vnd\.\w+(?=[.+])/.exec(accept) ?? 'vnd.croft');
  return [...new Set(names)]
    .map((name) => `application/${tree}.${name}${format ? `.${format}` : '+json'}`)
    .join();
}
