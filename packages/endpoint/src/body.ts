/** Whether a body is sent as it is: text, bytes, forms and streams, which bring their own content type or none. */
export function isRawBody(body: unknown): boolean {
  const tagged = body as Record<symbol, unknown> | null | undefined;
  // The platform's own classes carry a tag, those of an application do not; a stream of Node has only an iterator.
  return (
    typeof body === 'string' ||
    (typeof body === 'object' && !!(tagged?.[Symbol.toStringTag] ?? tagged?.[Symbol.asyncIterator]))
  );
}
