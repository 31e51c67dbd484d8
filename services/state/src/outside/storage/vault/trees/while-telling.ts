const EVERY_MS = 250;

/** Does something, and tells meanwhile again and again how far it is; when nobody looks, nothing is told or counted for it. */
export async function whileTelling<T>(
  tell: ((line: string) => void) | undefined,
  howFar: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (tell === undefined) return work();
  const timer = setInterval(() => tell(howFar()), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
