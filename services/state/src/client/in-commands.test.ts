import { expect, it } from 'vitest';
import { inCommands } from './in-commands.ts';

it.each([
  ['SaveSystemState is for administrators: root', '`croft state save` is for administrators: root'],
  [
    'SaveUserState is for the user whose home it is',
    '`croft state save --user` is for the user whose home it is',
  ],
  ['GC is for administrators', '`croft state gc` is for administrators'],
  ['Export is for administrators', '`croft state export` is for administrators'],
  ['there is no state "Export is for GC"', 'there is no state "Export is for GC"'],
  ['there is no state "MachineShow"', 'there is no state "MachineShow"'],
  ['uid 5 has 8 Watch calls in flight', 'uid 5 has 8 Watch calls in flight'],
  ['see MachineShow with full', 'see `croft state show --full`'],
  [
    'there is no state "x" of the system, but one of the home of ada: name the user, too',
    'there is no state "x" of the system, but one of the home of ada: name the user with --user',
  ],
  ['repeat it with force if that is meant', 'repeat it with --force if that is meant'],
])('%s', (daemonSays, clientSays) => {
  expect(inCommands(daemonSays)).toBe(clientSays);
});
