/**
 * Reads `key=value,key2=value2`, values percent-encoded, as `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_EXPORTER_OTLP_HEADERS`
 * are written (https://opentelemetry.io/docs/specs/otel/resource/sdk).
 * @throws Error that says which part is none, without its value
 */
export function parsePairs(text: string): Record<string, string> {
  const pairs: Record<string, string> = Object.create(null);
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const key = part.slice(0, equals).trim();
    if (equals < 1 || key === '') throw new Error('expected key=value pairs separated by commas');
    try {
      pairs[key] = decodeURIComponent(part.slice(equals + 1).trim());
    } catch {
      throw new Error(`the value of ${key} is not percent-encoded as it should be`);
    }
  }
  return pairs;
}
