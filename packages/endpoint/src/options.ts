const unsafe = ['__proto__', 'constructor', 'prototype'];
const settings = new Set(['method', 'baseUrl', 'url', 'headers', 'mediaType', 'request', ...unsafe]);

/** Whether a key may be copied; the others could reach a prototype and are ignored everywhere. */
export function isSafe(key: string): boolean {
  return !unsafe.includes(key);
}

/** Whether an option is a parameter, not one of the builder's own settings. */
export function isParameter(key: string): boolean {
  return !settings.has(key);
}
