/** A message without fields. */
type Empty = Record<string, never>;

/**
 * Request and result of each operation of `proto/statesvc.proto`, as the code sees them: every field of a request is
 * filled in; a result is what follows the log lines (`never` where the contract has log lines only), in several messages where it is long.
 * `test/contract.test.ts` compares this table with the contract.
 */
export interface Wire {
  CreateUserData: { request: { user: string; homepath: string }; result: never };
  ChangeHomeOnUserData: { request: { home: string; newHome: string }; result: never };
  DissociateUser: { request: { user: string; removeHome: boolean }; result: never };
  PrepareBoot: { request: Empty; result: { changed: boolean } };
  CommitBoot: { request: Empty; result: { changed: boolean } };
  UpdateBootMenu: { request: { auto: boolean }; result: never };
  UpdateLastUsed: { request: Empty; result: never };
  SaveSystemState: {
    request: { stateName: string; updateBootMenu: boolean; autosave: boolean };
    result: { stateName: string };
  };
  SaveUserState: { request: { userName: string; stateName: string }; result: { stateName: string } };
  RemoveSystemState: { request: { stateName: string; force: boolean; dryrun: boolean }; result: never };
  RemoveUserState: {
    request: { userName: string; stateName: string; force: boolean; dryrun: boolean };
    result: never;
  };
  DumpStates: { request: Empty; result: { states: string } };
  DaemonStop: { request: Empty; result: never };
  LoggingLevel: { request: { logginglevel: number }; result: never };
  Refresh: { request: Empty; result: never };
  Trace: { request: { type: string; duration: number }; result: { trace: Buffer } };
  Status: { request: Empty; result: never };
  Reload: { request: Empty; result: never };
  GC: { request: { all: boolean }; result: never };
  MachineShow: { request: { machineId: string; full: boolean }; result: { machineInfo: string } };
  MachineList: { request: Empty; result: { machineList: string } };
  Version: { request: Empty; result: { version: string } };
}

/** The name of an operation of the contract. */
export type OperationName = keyof Wire;

/** What a caller asks of an operation. */
export type RequestOf<N extends OperationName> = Wire[N]['request'];

/** What an operation answers, once, after its log lines. */
export type ResultOf<N extends OperationName> = Wire[N]['result'];
