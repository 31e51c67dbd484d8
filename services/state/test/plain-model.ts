/** What the files of a folder hold. */
export type Files = Record<string, string>;

/** A state as the model knows it. */
export interface ModelState {
  readonly user: string | null;
  readonly name: string;
  readonly automatic: boolean;
  /** Which save it was made by, and whether that was one of the machine. */
  readonly group: number;
  readonly ofMachine: boolean;
  /** Undefined when its home was not there. */
  readonly files: Files | undefined;
}

/** What there is to be known. */
export class Model {
  system: Files;
  /** What lies where homes may be; undefined when nothing does. */
  readonly places: Record<string, Files | undefined> = {};
  readonly homes = new Map<string, { place: string; linked: boolean }>();
  states: ModelState[] = [];
  #groups = 0;

  constructor(system: Files) {
    this.system = system;
  }

  linked(): [string, string][] {
    return [...this.homes]
      .flatMap(([user, { place, linked }]): [string, string][] => (linked ? [[user, place]] : []))
      .sort();
  }

  isTaken(name: string, user: string | null): boolean {
    return this.states.some(
      (one) => one.name === name && (user === null || one.user === null || one.user === user),
    );
  }

  save(user: string | null, name: string, automatic: boolean): void {
    const group = this.#groups++;
    const common = { name, automatic, group, ofMachine: user === null };
    const copy = (files: Files | undefined) => (files === undefined ? undefined : { ...files });
    if (user === null) this.states.push({ ...common, user: null, files: { ...this.system } });
    for (const [each, place] of this.linked())
      if (user === null || user === each)
        this.states.push({ ...common, user: each, files: copy(this.places[place]) });
  }

  find(user: string | null, name: string): ModelState | undefined {
    return this.states.find((one) => one.user === user && one.name === name);
  }

  /** Another user has his home there. */
  isInTheWay(place: string, user: string): boolean {
    return this.linked().some(([other, at]) => other !== user && at === place);
  }

  isFull(place: string): boolean {
    return Object.keys(this.places[place] ?? {}).length > 0;
  }

  move(user: string, from: string, to: string): void {
    this.places[to] = this.places[from] ?? {};
    if (from !== to) this.places[from] = undefined;
    this.homes.set(user, { place: to, linked: true });
  }
}
