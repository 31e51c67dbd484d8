import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasProgram, skipWithout } from '@croft/testing';
import { expect, test } from 'vitest';
import { operationNames } from '../src/rpc.ts';
import { protoFile, temporaryFolder } from './daemon.ts';
import { startProcess } from './spawned-daemon.ts';

// Every operation through a client of another make: C core, Python's protobuf, stubs by protoc, or nothing but reflection.

/** Debian's, which has grpcio; one that stands before it in the PATH may not. */
const PYTHON = '/usr/bin/python3';
const GRPCIO = '/usr/lib/python3/dist-packages/grpc';
const SCRIPT = fileURLToPath(new URL('./clients/call_daemon.py', import.meta.url));
/** Above what a message may be, for the few bytes that frame it. */
const MESSAGE = 64 * 1024 + 16;

type Calls = [operation: string, request: object][];

interface Said {
  readonly name: string;
  readonly order: string[];
  readonly result: string | number | boolean | null;
  readonly largest: number;
  readonly code: string;
}

/** Modules that protoc makes of the contract and of the reflection protocol. */
function compile(): string {
  const folder = temporaryFolder();
  const reflection = join(
    dirname(createRequire(import.meta.url).resolve('@grpc/reflection')),
    '../proto/grpc/reflection/v1alpha/reflection.proto',
  );
  for (const file of [protoFile, reflection])
    execFileSync('protoc', [
      `--proto_path=${dirname(file)}`,
      `--python_out=${folder}`,
      `--grpc_python_out=${folder}`,
      `--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin`,
      file,
    ]);
  return folder;
}

async function calls(modules: string, address: string, way: string, list: Calls): Promise<Said[]> {
  const running = promisify(execFile)(PYTHON, [SCRIPT, address, way], {
    env: { PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(JSON.stringify(list));
  const { stdout } = await running;
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Said);
}

test.for(['stubs', 'reflection'])(
  'every operation by grpcio with %s',
  { timeout: 150_000 },
  async (way, context) => {
    if (!hasProgram('grpc_python_plugin') || !existsSync(GRPCIO))
      return skipWithout(context, 'python3-grpcio');
    const modules = compile();
    // In a process of its own: a trace of the heap is one of all that runs there, and the client waits for half a minute.
    const folder = temporaryFolder();
    const daemon = await startProcess(join(folder, 'state'), temporaryFolder(), {
      STATESVC_CMDLINE_FILE: join(folder, 'not-there'),
      STATESVC_POLICY: join(folder, 'not-there'),
      STATESVC_BOOT_LOADER: 'none',
    });
    const homes = temporaryFolder();
    const list: Calls = [
      ['Version', {}],
      ['Status', {}],
      ['SaveSystemState', { stateName: 'one' }],
      ['SaveSystemState', { stateName: 'not good' }],
      ['CreateUserData', { user: 'ada', homepath: `${homes}/ada` }],
      ['SaveUserState', { userName: 'ada', stateName: 'two' }],
      ['ChangeHomeOnUserData', { home: `${homes}/ada`, newHome: `${homes}/lovelace` }],
      ['RemoveUserState', { userName: 'ada', stateName: 'two', dryrun: true }],
      ['RemoveUserState', { userName: 'ada', stateName: 'two' }],
      ['PrepareBoot', {}],
      ['CommitBoot', {}],
      ['UpdateBootMenu', { auto: true }],
      ['UpdateLastUsed', {}],
      ['LoggingLevel', { logginglevel: 1 }],
      ['LoggingLevel', { logginglevel: -1 }],
      ['Refresh', {}],
      ['Reload', {}],
      ['GC', { all: false }],
      ['Trace', { type: 'heap', duration: 0 }],
      ['MachineShow', { full: true }],
      ['MachineList', {}],
      ['DumpStates', {}],
      ['RemoveSystemState', { stateName: 'nobody' }],
      ['RemoveSystemState', { stateName: 'one' }],
      ['DissociateUser', { user: 'ada' }],
      ['DaemonStop', {}],
    ];
    expect(new Set(list.map(([name]) => name))).toEqual(new Set(operationNames));
    const said = await calls(modules, daemon.address, way, list);

    const bad = said.filter(({ code }) => code !== 'OK').map(({ name, code }) => `${name} ${code}`);
    expect(bad).toEqual([
      'SaveSystemState INVALID_ARGUMENT',
      'LoggingLevel INVALID_ARGUMENT',
      'RemoveSystemState NOT_FOUND',
    ]);
    const results = said
      .filter(({ result }) => result !== null)
      .map(({ name, result }) => [name, result] as const);
    const withResult =
      'Version SaveSystemState SaveUserState PrepareBoot CommitBoot Trace MachineShow MachineList DumpStates';
    expect(results.map(([name]) => name)).toEqual(withResult.split(' '));
    const result = Object.fromEntries(results);
    expect(result).toMatchObject({ SaveSystemState: 'one', SaveUserState: 'two', PrepareBoot: false });
    const dumped = JSON.parse(String(result['DumpStates'])) as { homes: object[] };
    expect(dumped.homes).toEqual([expect.objectContaining({ user: 'ada', path: `${homes}/lovelace` })]);
    for (const { name, order, largest } of said) {
      // Lines come first, and a result that is one message is the last.
      const at = order.findIndex((field) => field !== 'log');
      if (at !== -1) expect(order.slice(at), name).toEqual(order.slice(at).map(() => order[at]));
      expect(largest, name).toBeLessThanOrEqual(name === 'DumpStates' ? 3.5 * 1024 * 1024 : MESSAGE);
    }
  },
);
