// A daemon of somebody else: `node daemon-as.ts <JSON>`. Its code is loaded before the process gives its rights up.
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { startState, stateSettings } from '../../src/index.ts';
import type { DaemonAs } from './other-users.ts';

const { uid, gid, folder, settings } = JSON.parse(process.argv[2] as string) as DaemonAs;
process.setgroups?.([]);
process.setgid?.(gid);
process.setuid?.(uid);
const service = await startState({
  settings: readSettings(stateSettings, settings),
  folder,
  log: silentLog,
  version: '0.0.0-test',
});
process.stdout.write(`${service.address}\n`);
process.stdin.resume().once('end', () => void service.close(0).then(() => process.exit(0)));
