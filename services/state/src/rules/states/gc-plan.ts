import { type Machine, type Model, type State, statesInUse } from '../../model/model.ts';
import type { Policy } from './policy.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A clock that goes on so much later than it was is not believed at once, as that would be the end of the whole history. */
const LEAP_MS = 365 * DAY_MS;
/** It is believed when states have been saved by it for so long. */
const BELIEVED_MS = 7 * DAY_MS;

/**
 * The states that a policy does not keep, oldest first: of each machine's system, and of each user those he saved himself.
 * Never those that are pinned, that a machine was or will be booted from, or whose removal has begun; manual ones only when
 * asked for. None while the clock is doubted. Days are those of the daemon's time zone.
 * @param all manual states, too
 */
export function planCollection(model: Model, policy: Policy, now: Date, all: boolean): readonly State[] {
  if (isClockDoubted(model, now)) return [];
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
 * Whether the clock has leapt a year or more ahead within the last week, going by when states were saved: it may be wrong, or the machine
 * was not used for so long.
 */
export function isClockDoubted({ states }: Model, now: Date): boolean {
  let later = now.getTime();
  for (const { createdAt, imported } of states) {
    if (imported !== undefined) continue;
    const time = Date.parse(createdAt);
    if (later - time >= LEAP_MS) return true;
    if (now.getTime() - time >= BELIEVED_MS) return false;
    later = Math.min(later, time);
  }
  return false;
}

/**
 * The states that may go when space is short, oldest first. Of each series the newest automatic one stays. What a user pinned
 * of a save of the whole machine does not keep that: no user fills the disk with the history of the system.
 */
export function planForSpace(model: Model, machine: Machine): readonly State[] {
  const isCandidate = candidates(model, false, ({ pinned, system }) => pinned && system === undefined);
  const own = model.states.filter((state) => state.machine === machine.id && state.system === undefined);
  const newest = new Set<string>();
  const spare: State[] = [];
  for (const state of lastSavedFirst(own).filter(isCandidate)) {
    const series = state.user ?? '';
    if (newest.has(series)) spare.push(state);
    newest.add(series);
  }
  return spare.reverse();
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
  const states = newestFirst(lastSavedFirst(given).slice(policy.keep.newest));
  const times = states.map(({ createdAt }) => Date.parse(createdAt));
  const gone: State[] = [];
  let at = 0;
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

/** What was saved when the clock was behind is newer than what was the newest then, as long as that is there. */
export function lastSavedFirst(states: readonly State[]): readonly State[] {
  if (states.every(({ after }) => after === undefined)) return newestFirst(states);
  const times = new Map(states.map(({ id, createdAt }) => [id, createdAt]));
  const timeOf = ({ after = '', createdAt }: State) => {
    const time = times.get(after) ?? '';
    return time > createdAt ? time : createdAt;
  };
  return states
    .map((state) => ({ state, time: timeOf(state) }))
    .sort((a, b) => {
      if (a.time !== b.time) return a.time < b.time ? 1 : -1;
      const [behindA, behindB] = [a, b].map(({ state, time }) => Number(time > state.createdAt)) as [
        number,
        number,
      ];
      return behindB - behindA || oldestFirst(b.state, a.state);
    })
    .map(({ state }) => state);
}

function newestFirst(states: readonly State[]): State[] {
  return [...states].sort((a, b) => oldestFirst(b, a));
}

function oldestFirst(a: State, b: State): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
}
