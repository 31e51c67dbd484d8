/** Whether a ban holds; one without end is infinite. */
export function isBanned(bannedUntilMs: number | null, now: Date): boolean {
  return bannedUntilMs !== null && bannedUntilMs > now.getTime();
}
