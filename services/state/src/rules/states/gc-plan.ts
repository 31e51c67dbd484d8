import { type Machine, type Model, type State, statesInUse } from '../../model/model.ts';
import type { Policy } from './policy.ts';

const HOUR_MS = 3_600_000;

/**
 * The states that a policy does not keep, oldest first: of each machine's system, and of each user those he saved himself.
 * Never those that are pinned, that a machine was or will be booted from, or whose removal has begun; manual ones only when
 * asked for. Days are those of the daemon's time zone.
 * @param all manual states, too
 */
export function planCollection(model: Model, policy: Policy, now: Date, all: boolean): readonly State[] {
  const isCandidate = candidates(model, all);
  const series = Map.groupBy(
    model.states.filter(({ system }) => system === undefined),
    ({ machine, user }) => `${user ?? ''}\n${machine}`,
  );
  return [...series.values()]
    .flatMap((states) => surplus(states, policy, now, isCandidate))
    .sort(oldestFirst);
}

/**
 * The states that may go when space is short, oldest first. Of each series the newest automatic one stays. What a user pinned
 * of a save of the whole machine does not keep that: no user fills the disk with the history of the system.
 */
export function planForSpace(model: Model, machine: Machine): readonly State[] {
  const isCandidate = candidates(model, false, ({ pinned, system }) => pinned && system === undefined);
  const series = Map.groupBy(
    model.states.filter((state) => state.machine === machine.id && state.system === undefined),
    ({ user }) => user ?? '',
  );
  return [...series.values()]
    .flatMap((states) => newestFirst(states).filter(isCandidate).slice(1))
    .sort(oldestFirst);
}

function candidates(
  model: Model,
  all: boolean,
  isPinned = ({ pinned }: State): boolean => pinned,
): (state: State) => boolean {
  const inUse = statesInUse(model);
  const pinned = new Set(model.states.filter(isPinned).map(({ id, system }) => system ?? id));
  return ({ id, automatic }) =>
    (all || automatic) && !pinned.has(id) && !inUse.has(id) && !model.removing.has(id);
}

function surplus(
  given: readonly State[],
  policy: Policy,
  now: Date,
  isCandidate: (state: State) => boolean,
): State[] {
  const states = newestFirst(given);
  const times = states.map(({ createdAt }) => Date.parse(createdAt));
  const gone: State[] = [];
  let at = policy.keep.newest;
  // Everything of the first days; from there on stretch by stretch, each looked at once.
  let days = policy.keep.days - 1;
  let end = midnight(now, days);
  while (at < states.length && (times[at] as number) >= end) at++;
  for (const { buckets, days: length, keep } of policy.keep.rules) {
    for (let bucket = 0; bucket < buckets; bucket++) {
      days += length;
      const start = midnight(now, days);
      const first = at;
      while (at < states.length && (times[at] as number) >= start) at++;
      gone.push(...thinned(states.slice(first, at), keep, isCandidate, { start, end }));
      end = start;
    }
  }
  gone.push(...states.slice(at).filter(isCandidate));
  return gone;
}

/** What must stay counts as kept; the rest of the places go to the states nearest to points evenly spread over the stretch. */
function thinned(
  states: readonly State[],
  keep: number,
  isCandidate: (state: State) => boolean,
  { start, end }: { start: number; end: number },
): State[] {
  const candidates = states.filter(isCandidate);
  const places = Math.max(0, keep - (states.length - candidates.length));
  if (candidates.length <= places) return [];
  const kept = new Set<State>();
  let at = 0;
  for (let place = 0; place < places; place++) {
    // Newest first, as the candidates are; enough of them stay for the places after this.
    const wanted = end - ((place + 0.5) * (end - start)) / places;
    const last = candidates.length - (places - place);
    while (at < last && distance(candidates[at + 1], wanted) <= distance(candidates[at], wanted)) at++;
    kept.add(candidates[at++] as State);
  }
  return candidates.filter((state) => !kept.has(state));
}

function distance(state: State | undefined, time: number): number {
  return state === undefined ? Number.POSITIVE_INFINITY : Math.abs(Date.parse(state.createdAt) - time);
}

/** When a day began; days that are 23 or 25 hours long are days. */
function midnight(now: Date, daysAgo: number): number {
  const day = new Date(now.getTime());
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  // Where a clock is put forward at midnight the day begins at one.
  return day.getHours() === 23 ? day.getTime() + HOUR_MS : day.getTime();
}

function newestFirst(states: readonly State[]): State[] {
  return [...states].sort((a, b) => oldestFirst(b, a));
}

function oldestFirst(a: State, b: State): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
}
