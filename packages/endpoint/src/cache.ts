/** Remembers what `make` returned, for at most 500 short keys. */
export function cached<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      if (made.size === 500) made.clear();
      if (key.length < 2000) made.set(key, value);
    }
    return value;
  };
}
