/** For `catch` of a read: undefined where nothing is there. What cannot be read is still an error. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
