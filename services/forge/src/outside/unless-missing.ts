/** What is meant by a file or folder that is not there; another failure stays one. */
export const unlessMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
