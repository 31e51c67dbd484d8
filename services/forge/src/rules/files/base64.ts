/** The bytes of a base64 text, line breaks allowed; undefined when it is none. */
export function readBase64(text: string): Buffer | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) return undefined;
  return Buffer.from(plain, 'base64');
}
