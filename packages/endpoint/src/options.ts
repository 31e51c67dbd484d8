const settings = new Set(['method', 'baseUrl', 'url', 'headers', 'mediaType', 'request', '__proto__']);

/** Whether a key may be copied; assigning `__proto__` would set a prototype. */
export function isSafe(key: string): boolean {
  return key !== '__proto__';
}

/** Whether an option is one of the builder's own settings or ignored, not a parameter. */
export function isSetting(key: string): boolean {
  return settings.has(key);
}
