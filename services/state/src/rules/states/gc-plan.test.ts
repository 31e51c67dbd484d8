import { describe, expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import type { State } from '../../model/model.ts';
import { planCollection, planForSpace } from './gc-plan.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';

const NOW = new Date('2026-11-22T15:30:00');
const HOUR = 3_600_000;

/** An automatic state of so many hours ago. */
const ago = (hours: number, more: Partial<State> = {}) =>
  aState({
    id: `${more.user ?? ''}${hours}`,
    automatic: true,
    createdAt: new Date(NOW.getTime() - hours * HOUR).toISOString(),
    ...more,
  });
const hours = (states: readonly State[]) => states.map(({ id }) => Number(id));
const collected = (
  states: readonly State[],
  { keep = {}, all = false }: { keep?: object; all?: boolean } = {},
) => {
  const policy: Policy = { ...DEFAULT_POLICY, keep: { ...DEFAULT_POLICY.keep, newest: 0, ...keep } };
  return hours(planCollection(aModel({ states }), policy, NOW, all));
};
const every = (step: number, from: number, to: number) => {
  const list: State[] = [];
  for (let at = from; at < to; at += step) list.push(ago(at));
  return list;
};

describe('planCollection', () => {
  it('keeps everything of today and yesterday', () => {
    // 15:30 today, so yesterday began 39.5 hours ago.
    expect(collected(every(1, 0, 40))).toEqual([]);
  });

  it('keeps the newest, however old', () => {
    const old = every(24, 5000, 5000 + 30 * 24);
    expect(collected(old, { keep: { newest: 20 } })).toHaveLength(10);
    expect(collected(old, { keep: { newest: 20 } })[0]).toBe(5000 + 29 * 24);
  });

  it('keeps three of the day before, evenly spread', () => {
    const day = every(1, 40, 63);
    const gone = collected(day);
    const kept = hours(day).filter((hour) => !gone.includes(hour));
    // Its sixths from 39.5 to 63.5 hours ago: 43.5, 51.5, 59.5.
    expect(kept).toEqual([44, 52, 60]);
  });

  it('keeps one a day for five days and one a week for four weeks, and nothing older', () => {
    const states = every(6, 64, 24 * 60);
    const gone = new Set(collected(states));
    const kept = hours(states).filter((hour) => !gone.has(hour));
    expect(kept).toHaveLength(5 + 4);
    const days = kept.map((hour) => Math.floor((hour - 63.5) / 24));
    expect(days.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(days.slice(5).map((day) => Math.floor((day - 5) / 7))).toEqual([0, 1, 2, 3]);
  });

  it.each([
    ['manual states', { automatic: false }],
    ['pinned states', { pinned: true }],
  ])('keeps %s', (_what, more) => {
    expect(collected([ago(5000, more), ago(5001)])).toEqual([5001]);
  });

  it('takes manual states when all are meant, but no pinned ones', () => {
    const states = [ago(5000, { automatic: false }), ago(5001, { automatic: false, pinned: true })];
    expect(collected(states, { all: true })).toEqual([5000]);
  });

  it('counts what must stay: a manual state of a day is the one that is kept of it', () => {
    expect(collected([ago(64, { automatic: false }), ago(66), ago(70)])).toEqual([70, 66]);
  });

  it('keeps what a machine was or will be booted from, and what is being removed', () => {
    const machines = [aMachine({ bootedState: '5000', nextState: '5001' })];
    const states = [5000, 5001, 5002, 5003].map((hour) => ago(hour));
    const model = aModel({ machines, states, removing: new Set(['5002']) });
    expect(
      hours(planCollection(model, { ...DEFAULT_POLICY, keep: { days: 0, newest: 0, rules: [] } }, NOW, true)),
    ).toEqual([5003]);
  });

  it('keeps a system state one of whose users is pinned, and never takes one out of it', () => {
    const states = [ago(5000), ago(5001, { id: 'u', user: 'ada', system: '5000', pinned: true }), ago(5002)];
    expect(collected(states)).toEqual([5002]);
  });

  it('counts each machine and each user for itself, oldest first', () => {
    const states = [
      ago(64),
      ago(65, { id: '65', machine: 'vault:/other' }),
      ago(66, { id: '66', user: 'ada' }),
      ago(67, { id: '67', user: 'ada' }),
      ago(68, { id: '68', user: 'bob' }),
    ];
    expect(collected(states)).toHaveLength(1);
  });

  it('takes nothing while the clock is a year ahead of all states, or has been for less than a week', () => {
    const year = 365 * 24;
    const old = every(24, year + 300, year + 300 + 40 * 24);
    const gone = hours(old);
    expect(collected(old, { all: true })).toEqual([]);
    expect(collected([...every(10, 0, 160), ...old])).toEqual([]);
    // One of them, or a machine that was really not used for so long.
    expect(collected([...every(10, 0, 180), ...old]).filter((hour) => gone.includes(hour))).toHaveLength(40);
    expect(collected(every(24, year - 1, year + 40 * 24))).not.toEqual([]);
    // A state from a time that has not come says nothing about the others.
    expect(collected([ago(-9 * year), ago(0), ago(2000)])).toEqual([2000]);
  });

  it('counts what was saved while the clock was behind as newer than what was the newest then', () => {
    const keep = { newest: 2 };
    const behind = ago(5002, { after: '5000' });
    expect(collected([ago(5000), ago(5001), behind], { keep })).toEqual([5001]);
    expect(collected([ago(5000), ago(5001), ago(5003, { after: '5000' }), behind], { keep })).toEqual([
      5001, 5000,
    ]);
    expect(collected([ago(4999), ago(5000), ago(5001), behind], { keep })).toEqual([5001, 5000]);
    // By its age it is what the clock said, and what it came after may be gone.
    expect(collected([ago(1), ago(5002, { after: '1' })])).toEqual([5002]);
    expect(collected([ago(5001), behind, ago(5003)], { keep })).toEqual([5003]);
  });

  it('keeps days that are 23 or 25 hours long apart', () => {
    for (const now of ['2026-03-30T12:00:00', '2026-10-26T12:00:00']) {
      const states = [1, 2, 3, 4, 5, 6].map((day) => {
        const noon = new Date(now);
        noon.setDate(noon.getDate() - day);
        return aState({ id: String(day), automatic: true, createdAt: noon.toISOString() });
      });
      const keep = { days: 1, newest: 0, rules: [{ name: 'days', buckets: 6, days: 1, keep: 1 }] };
      expect(planCollection(aModel({ states }), { ...DEFAULT_POLICY, keep }, new Date(now), false)).toEqual(
        [],
      );
    }
  });

  it('keeps as many as a rule says, whatever lies where', () => {
    for (let keep = 0; keep < 8; keep++) {
      for (const states of [every(0.1, 64, 65), every(5, 64, 87), [ago(64), ago(87)]]) {
        const rules = [{ name: 'a day', buckets: 1, days: 1, keep }];
        const gone = collected(states, { keep: { days: 3, rules } });
        expect(gone).toHaveLength(Math.max(0, states.length - keep));
      }
    }
  });
});

it('planForSpace takes automatic states, oldest first, and leaves the newest of each series', () => {
  const states = [
    ago(1),
    ago(2),
    ago(3, { automatic: false }),
    ago(4),
    ago(5, { pinned: true }),
    ago(6, { id: '6', machine: 'vault:/other' }),
    ago(7, { id: '7', user: 'ada' }),
    ago(8, { id: '8', user: 'ada' }),
  ];
  expect(hours(planForSpace(aModel({ states }), aMachine()))).toEqual([8, 4, 2]);
});

it('planForSpace keeps what a user pinned of his own saves, and no save of the machine for him', () => {
  const states = [
    ago(1),
    ago(2),
    ago(2, { id: 'ada2', user: 'ada', system: '2', pinned: true }),
    ago(3, { pinned: true }),
    ago(7, { id: '7', user: 'ada' }),
    ago(8, { id: '8', user: 'ada', pinned: true }),
    ago(9, { id: '9', user: 'ada' }),
  ];
  expect(hours(planForSpace(aModel({ states }), aMachine()))).toEqual([9, 2]);
});

it('planForSpace leaves what was saved last, by a clock that was behind', () => {
  const states = [ago(1), ago(2), ago(5000, { after: '1' }), ago(5001, { after: '1' }), ago(9)];
  expect(hours(planForSpace(aModel({ states }), aMachine()))).toEqual([9, 2, 1, 5001]);
});
