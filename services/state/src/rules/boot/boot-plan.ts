import {
  bootedStateMissing,
  contentDamaged,
  machineNotManaged,
  notBootedFrom,
  revertUnfinished,
} from '../../failures.ts';
import { foreignState, onlyToLookInto } from '../../failures-extras.ts';
import {
  canGoBackTo,
  type Machine,
  type Model,
  type Preparation,
  type State,
  savedWith,
  storageName,
} from '../../model/model.ts';
import { findStates, nameState } from '../states/find-state.ts';
import type { CommandLine } from './command-line.ts';

/** What PrepareBoot will do. */
export type PrepareBootPlan =
  | {
      readonly do: 'nothing';
      readonly why: string;
      /** The state that this boot was asked to go back to, where the boot loader would have had to start it. */
      readonly missed?: string;
    }
  | {
      readonly do: 'revert';
      readonly state: State;
      /** The state itself, and with homes those of its users who have one here. */
      readonly states: readonly State[];
      readonly users: boolean;
      /** This boot began it already, and saved what was there before. */
      readonly begun: Preparation | undefined;
    };

/**
 * Decides whether this boot goes back to a state: the one that the command line names, else the one that was asked for.
 * @throws FAILED_PRECONDITION when there is no such state of this machine
 */
export function planPrepareBoot(
  model: Model,
  machine: Machine,
  commandLine: CommandLine,
  boot: string,
): PrepareBootPlan {
  if (!machine.managed) return { do: 'nothing', why: 'this machine is not managed' };
  const { nextState, nextRevert } = machine;
  const isForNext = nextRevert?.askedIn === boot;
  const { revertTo } = machine;
  const isByBooting = revertTo !== undefined;
  const wanted = commandLine.state ?? revertTo ?? (isForNext || isByBooting ? undefined : nextState);
  if (wanted === undefined) {
    if (isByBooting && nextState !== undefined && !isForNext) {
      const missed = model.states.find(({ id }) => id === nextState);
      const name = missed === undefined ? nextState : storageName(missed);
      return { do: 'nothing', why: `the boot loader did not start ${name}`, missed: name };
    }
    const why = isForNext
      ? 'it is the next boot that goes back to a state'
      : 'this boot goes back to no state';
    return { do: 'nothing', why };
  }
  const { prepared } = machine;
  const begun = prepared?.boot === boot && prepared.state === wanted ? prepared : undefined;
  if (begun?.done === true) return { do: 'nothing', why: 'this boot went back to its state already' };
  const state = model.states.find(({ id, kind }) => id === wanted && kind === 'system');
  if (state?.machine !== machine.id || model.removing.has(state.id)) throw bootedStateMissing(wanted);
  if (!canGoBackTo(state)) throw onlyToLookInto(storageName(state));
  if (isByBooting && revertTo !== wanted) throw notBootedFrom(storageName(state));
  const isAsked = commandLine.state === undefined && !isByBooting;
  const users = isAsked ? nextRevert?.users === true : commandLine.users;
  const homes = new Set(
    model.homes.filter(({ machines }) => machines.includes(machine.id)).map(({ user }) => user),
  );
  const states = savedWith(model.states, state).filter(
    ({ user }) => user === undefined || (users && homes.has(user)),
  );
  return { do: 'revert', state, states, users, begun };
}

/**
 * The state that the next boot is to go back to.
 * @throws NOT_FOUND, INVALID_ARGUMENT; FAILED_PRECONDITION when it is not of this machine; ABORTED when it is being removed
 */
export function planRevertRequest(model: Model, machine: Machine, name: string): State {
  if (!machine.managed) throw machineNotManaged();
  const own = model.states.filter((state) => state.machine === machine.id);
  const wanted = { name, user: undefined };
  const state =
    findStates(own, wanted).length > 0
      ? nameState({ ...model, states: own }, wanted)
      : nameState(model, wanted);
  if (state.machine !== machine.id) throw foreignState(name, state.machine);
  if (!canGoBackTo(state)) throw onlyToLookInto(name);
  // Others go back to what is in it; without its root there is nothing to boot.
  if (machine.revertTo !== undefined && state.members[0]?.unreadable !== 0)
    throw contentDamaged(`the root of ${storageName(state)}`);
  return state;
}

/** What CommitBoot will do. */
export interface CommitBootPlan {
  /** The kernel that this boot has shown to work. */
  readonly kernel: string;
  /** Something is not as it was after the last boot, so the boot menu is to be made anew. */
  readonly changed: boolean;
  /** The way back to a state is at its end. */
  readonly arrived: string | undefined;
  /** What stays written down of it. */
  readonly prepared: Preparation | undefined;
}

/**
 * Decides what a good boot changes; nothing on a machine that is not managed.
 * @throws FAILED_PRECONDITION while the way back to a state is not at its end
 */
export function planCommitBoot(model: Model, machine: Machine, { kernel }: CommandLine): CommitBootPlan {
  const { prepared } = machine;
  // Also one of an earlier boot: what is there is neither of two states, and nobody must take it for good.
  if (prepared?.done === false) throw revertUnfinished(prepared.state, prepared.saved);
  const arrived = prepared?.committed === false ? prepared.state : undefined;
  const state = model.states.find(({ id }) => id === arrived);
  const changed = machine.managed && (arrived !== undefined || (kernel !== '' && kernel !== machine.kernel));
  return {
    kernel: kernel || machine.kernel,
    changed,
    arrived: state === undefined ? arrived : storageName(state),
    prepared: prepared && { ...prepared, committed: true },
  };
}
