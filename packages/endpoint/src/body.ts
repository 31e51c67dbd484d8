/** Whether a body is sent as it is: text, bytes, forms and streams, which bring their own content type or none. */
export function isRawBody(body: unknown): boolean {
  // The platform's own classes carry a tag, those of an application do not.
  return (
    typeof body === 'string' ||
    isStream(body) ||
    (Object(body) === body && Symbol.toStringTag in (body as object))
  );
}

/** Whether a body is read piece by piece: a web stream, a Node stream or an async generator. */
export function isStream(body: unknown): boolean {
  return (
    Object(body) === body && (body instanceof ReadableStream || Symbol.asyncIterator in (body as object))
  );
}
