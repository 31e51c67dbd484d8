/** What states keep of extended attributes. Others belong to the file system itself, which makes them anew. */
const KEPT = /^(?:user\.|trusted\.(?!overlay\.)|security\.|system\.posix_acl_(?:access|default)$)/;
/** No file system has longer names. */
const MAX_NAME_BYTES = 255;

/** Whether states keep the attributes of a name. One that is no UTF-8 cannot be asked for by its name. */
export function isKeptAttribute(name: string): boolean {
  return KEPT.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES && !/[\0\uFFFD]/.test(name);
}
