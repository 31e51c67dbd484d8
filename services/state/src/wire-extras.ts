import type { RequestOf } from './wire.ts';

/** A state as a caller names it; `userName` is empty for states of the system. */
interface NamedState {
  readonly stateName: string;
  readonly userName: string;
}

/** One path that is not the same in two trees; see `proto/stateextras.proto`. */
export interface DiffChange {
  readonly path: string;
  readonly kind: 'DIFF_KIND_ADDED' | 'DIFF_KIND_CHANGED' | 'DIFF_KIND_REMOVED';
  readonly type: string;
  readonly oldType?: string;
  readonly content?: boolean;
  readonly mode?: boolean;
  readonly owner?: boolean;
  readonly target?: boolean;
  readonly time?: boolean;
  readonly unknown?: boolean;
  readonly attributes?: boolean;
}

/** How many paths are not the same. */
export interface DiffSummary {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** A state that something happened to. */
export interface StateEvent {
  readonly id: string;
  readonly name: string;
  readonly machine: string;
  readonly kind: string;
  readonly user: string;
  readonly automatic: boolean;
  readonly imported: boolean;
}

/** What happened. */
export type Happening =
  | { readonly saved: StateEvent }
  | { readonly removed: StateEvent }
  | { readonly described: StateEvent }
  | { readonly pinned: StateEvent }
  | { readonly unpinned: StateEvent }
  | { readonly machine: { readonly id: string } }
  | { readonly home: { readonly user: string } }
  | { readonly menu: { readonly states: number; readonly entries: number } };

/** A message of an import: which of the two it is, and that. */
export type ImportPart =
  | { readonly part: 'header'; readonly header: { readonly stateName: string } }
  | { readonly part: 'content'; readonly content: Buffer };

/** Request and answers of each operation of `proto/stateextras.proto`, as {@link Wire} has those of the contract. */
export interface ExtrasWire {
  Describe: { request: NamedState & { readonly description: string }; result: never };
  Pin: { request: NamedState; result: never };
  Unpin: { request: NamedState; result: never };
  RequestRevert: { request: { readonly stateName: string; readonly users: boolean }; result: never };
  CancelRevert: { request: RequestOf<'Version'>; result: never };
  Diff: {
    request: NamedState & { readonly otherStateName: string; readonly times: boolean };
    result:
      | {
          readonly changes: {
            readonly dataset: string;
            readonly path: string;
            readonly changes: readonly DiffChange[];
          };
        }
      | { readonly summary: DiffSummary };
  };
  Export: {
    request: NamedState & { readonly users: boolean };
    result:
      | { readonly content: Uint8Array }
      | { readonly summary: { readonly bytes: number; readonly sha256: string } };
  };
  Import: { request: AsyncIterable<ImportPart>; result: { readonly stateName: string } };
  Adopt: {
    request: { readonly machine: string; readonly dryrun: boolean };
    result: {
      readonly summary: {
        readonly machine: string;
        readonly marked: boolean;
        readonly homes: number;
        readonly states: number;
      };
    };
  };
  Watch: {
    request: RequestOf<'Version'>;
    result:
      | { readonly ready: { readonly id: number; readonly time: string } }
      | { readonly event: { readonly id: number; readonly time: string } & Happening };
  };
}

/** The name of an operation besides the contract. */
export type ExtraName = keyof ExtrasWire;

/** What a caller asks of it. */
export type ExtraRequestOf<N extends ExtraName> = ExtrasWire[N]['request'];

/** What it answers besides lines. */
export type ExtraResultOf<N extends ExtraName> = ExtrasWire[N]['result'];
