/** Remembers what `make` returned, for at most 500 short keys; `option` is for its errors alone. */
export function cached<T>(make: (key: string, option?: string) => T): (key: string, option?: string) => T {
  const made = new Map<string, T>();
  return (key, option) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key, option);
      if (made.size === 500) made.clear();
      if (key.length < 2000) made.set(key, value);
    }
    return value;
  };
}
