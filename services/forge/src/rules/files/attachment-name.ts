/** The file name of a `Content-Disposition` (RFC 6266): plain for old clients, and as it is for the rest. */
export function attachmentName(name: string): string {
  const plain = name.replace(/[^\u0020-\u007e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
