import { expect, it } from 'vitest';
import type { Call, Context } from '../src/context.ts';
import { MAX_OWN_SAVES } from '../src/rules/states/own-saves.ts';
import { saveUserState } from '../src/states/save-user-state.ts';
import { Turns } from '../src/turns.ts';
import { aMachine, aState } from './models.ts';

const machine = aMachine({ current: true });

/** Ada asks for one more state; the system is slow to say who administrates. */
function askWith(count: number, isAdministrator: boolean) {
  const states = Array.from({ length: count }, (_, at) => aState({ id: String(at), user: 'ada' }));
  const turns = new Turns();
  const asked: number[] = [];
  const call = {
    operation: 'SaveUserState',
    signal: new AbortController().signal,
    isAdministrator: async () => {
      asked.push(turns.list().length);
      return isAdministrator;
    },
  } as unknown as Call;
  const context = {
    index: { model: { machines: [machine], homes: [], states } },
    turns,
  } as unknown as Context;
  const save = () => saveUserState({ userName: 'ada', stateName: 'more' }, call, context);
  return { states, turns, asked, save };
}

const ALL = /^1000 states of "ada" were saved by themselves/;
/** What a save says that got as far as looking for her home, which is not there. */
const GOES_ON = /^"ada" has no home/;

it.each([
  ['an administrator is asked for before anybody waits', MAX_OWN_SAVES, true, GOES_ON, [0]],
  ['a user is refused before anybody waits', MAX_OWN_SAVES, false, ALL, [0]],
  ['nobody is asked for while there is room', MAX_OWN_SAVES - 1, false, GOES_ON, []],
])('%s', async (_what, count, isAdministrator, says, asks) => {
  const { asked, save } = askWith(count, isAdministrator);
  await expect(save()).rejects.toThrow(says);
  expect(asked).toEqual(asks);
});

it.each([
  [false, ALL],
  [true, GOES_ON],
])(
  'the last one may be saved while others wait for the turn, which is given up to ask (%s)',
  async (isAdministrator, says) => {
    const { states, turns, asked, save } = askWith(MAX_OWN_SAVES - 1, isAdministrator);
    const held = Promise.withResolvers<void>();
    const holding = turns.take(machine.id, 'SaveUserState', new AbortController().signal, () => held.promise);
    const saving = expect(save()).rejects.toThrow(says);
    states.push(aState({ id: 'last', user: 'ada' }));
    held.resolve();
    await holding;
    await saving;
    expect(asked).toEqual([0]);
  },
);
