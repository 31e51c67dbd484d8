import { contentDamaged } from '../../../failures.ts';
import type { Member, State } from '../../../model/model.ts';
import { isBelow } from '../../mounts.ts';
import type { RunProgram } from '../../programs.ts';
import { BootCopies } from './boot-copies.ts';
import { WORK } from './layout.ts';
import type { LiveSubvolumes } from './live-subvolumes.ts';
import type { Subvolumes } from './subvolumes.ts';
import { SubvolumeSwitch } from './switch-subvolumes.ts';

/** Going back to states: booting copies of them, and putting them in the place of what is there. */
export class GoingBack {
  readonly #subvolumes: Subvolumes;
  readonly #live: LiveSubvolumes;
  readonly #switch: SubvolumeSwitch;
  readonly #copies: BootCopies;
  readonly #warn: (line: string) => void;
  #trouble: string | undefined;

  /** @param warn takes lines for people when no caller waits */
  constructor(subvolumes: Subvolumes, live: LiveSubvolumes, run: RunProgram, warn: (line: string) => void) {
    this.#warn = warn;
    this.#subvolumes = subvolumes;
    this.#live = live;
    this.#switch = new SubvolumeSwitch(subvolumes, run);
    this.#copies = new BootCopies(subvolumes);
  }

  /** Why a way back that was interrupted could not be finished; undefined when there is none. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Finishes what was interrupted. What cannot be finished does not keep the daemon from starting: it is needed to see to it. */
  async settle(): Promise<void> {
    try {
      await this.#switch.settle();
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = `the way back to a state was interrupted and cannot be finished: ${(error as Error).message}`;
    }
  }

  /** Clears away what belongs to states that are gone. @param states ids of those that are there */
  async keep(states: ReadonlySet<string>): Promise<void> {
    if (this.#trouble === undefined) await this.#copies.keep(states, this.#warn);
  }

  /** The same for these alone; what cannot be deleted now, the next start deletes. */
  async forget(states: readonly State[]): Promise<void> {
    const ids = states.map(({ id }) => id);
    await this.#copies.remove(ids, this.#warn).catch(() => {});
  }

  /** @param key for which boot and state, see {@link SubvolumeSwitch.replace} @returns what is not as it was, one line each */
  async revert(
    wanted: readonly Member[],
    present: readonly Member[],
    key: string,
  ): Promise<readonly string[]> {
    const wishes = [];
    const problems: string[] = [];
    for (const member of wanted) {
      await this.check(member);
      const now = present.find(({ dataset }) => dataset === member.dataset);
      if (now === undefined) problems.push(`${member.dataset} is no longer there and was left out`);
      else wishes.push({ live: await this.#live.of(now), saved: member.snapshot });
    }
    await this.#switch.replace(wishes, key);
    const running = await this.#subvolumes.runningRoot();
    if (running !== undefined && isBelow(running, WORK))
      problems.push('this machine runs on what it was before until the next boot');
    return problems;
  }

  /** Where the machine runs on this file system, the kernel mounts a copy of the state. */
  async bootWords({ id, members }: State, warn: (line: string) => void): Promise<readonly string[]> {
    const system = members.find(({ role, unreadable }) => role === 'system' && unreadable === 0);
    const isBootable = system !== undefined && (await this.#subvolumes.runningRoot()) !== undefined;
    const copy = isBootable ? [`rootflags=subvol=${await this.#copies.of(id, system.snapshot, warn)}`] : [];
    return [...copy, `statesvc.state=${id}`];
  }

  /** @throws FAILED_PRECONDITION when what was saved is not what is there */
  async check({ snapshot, guid }: Member): Promise<void> {
    const shown = await this.#subvolumes.show(snapshot);
    if (shown?.uuid !== guid || !shown.readOnly) throw contentDamaged(`the snapshot ${snapshot}`);
  }
}
