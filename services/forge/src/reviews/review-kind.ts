/** What a review says. */
export type ReviewKind = 'PENDING' | 'APPROVED' | 'REQUEST_CHANGES' | 'COMMENT';
