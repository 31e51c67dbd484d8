import type { StackMember } from '../../stacks/stack-member.ts';

/** What a pull request stands on, and why that does not end at a branch that is nobody's head. */
export interface Footing<Member extends StackMember> {
  /** The lowest first, without the pull request itself. */
  below: Member[];
  obstacle: string | undefined;
}

/** More are not merged together. */
export const MOST_IN_STACK = 50;

/**
 * The pull requests below one: its base is the head branch of the next, and so on down. Two that go around in circles, such
 * as a release and its way back, stand on nothing; nor does what could stand on either of two.
 * @param open at least all those that can be below it
 */
export function findFooting<Member extends StackMember>(
  from: StackMember,
  open: readonly Member[],
): Footing<Member> {
  const below: Member[] = [];
  const passed = new Set([from.id]);
  for (let lowest: StackMember = from; ; ) {
    const { base_branch: base } = lowest;
    const end = (obstacle?: string) => ({ below: below.reverse(), obstacle });
    if (from.own_head === base) return end(`#${from.number}: it stands on itself`);
    const [next, other] = open.filter(({ own_head: head }) => head === base);
    if (next === undefined) return end();
    if (other !== undefined)
      return end(`#${lowest.number}: ${base} is the head of #${next.number} and of #${other.number}`);
    if (passed.has(next.id)) return end(`#${next.number}: it stands on itself`);
    if (passed.size === MOST_IN_STACK)
      return end(`#${next.number}: no more than ${MOST_IN_STACK} pull requests are merged together`);
    passed.add(next.id);
    below.push(next);
    lowest = next;
  }
}

/** The pull requests above one, the nearest first, those that stand on the same one by their numbers. */
export function findAbove<Member extends StackMember>(
  from: StackMember,
  open: readonly Member[],
  below: readonly Member[],
): Member[] {
  const passed = new Set([from.id, ...below.map(({ id }) => id)]);
  const above: Member[] = [];
  for (let level: readonly StackMember[] = [from]; level.length > 0 && above.length < MOST_IN_STACK; ) {
    const heads = new Set(level.flatMap(({ own_head: head }) => head ?? []));
    const next = open
      .filter(({ id, base_branch: base }) => heads.has(base) && !passed.has(id))
      .sort((a, b) => a.number - b.number);
    for (const { id } of next) passed.add(id);
    above.push(...next);
    level = next;
  }
  return above.slice(0, MOST_IN_STACK);
}
