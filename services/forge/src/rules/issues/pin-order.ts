/** More pinned things than this are no longer looked at first. */
export const MAX_PINNED = 3;

/** The pinned with one of them at another place; a place behind the last is the last. */
export function movePin(pinned: readonly number[], id: number, position: number): number[] {
  const others = pinned.filter((one) => one !== id);
  return [...others.slice(0, position - 1), id, ...others.slice(position - 1)];
}
