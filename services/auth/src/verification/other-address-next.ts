/** What the protocol says when the first of two addresses agreed to a change. */
export const OTHER_ADDRESS_NEXT =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email';
