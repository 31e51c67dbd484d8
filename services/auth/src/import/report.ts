import type { Outcome, RowOutcome } from '../store/import-users.ts';

/** What became of the rows of one kind. */
export interface Count {
  read: number;
  made: number;
  /** Taken over by a run before this one. */
  known: number;
  /** Left where they are. */
  left: number;
}

/** Kinds of rows, as people call them. */
export type Kind = 'users' | 'identities' | 'factors' | 'sessions' | 'refresh tokens' | 'audit entries';

/** What an import did. */
export interface ImportReport {
  counts: ReadonlyMap<Kind, Count>;
  /** One sentence a row that was left because of another, the first of them. */
  conflicts: readonly string[];
  conflictCount: number;
  /** One sentence a factor that was taken over and that nobody can prove, all of them. */
  unprovable: readonly string[];
  /** Users whose row changed there after they were taken over, which is not taken over; all of them. */
  changedThere: readonly string[];
  /** Things that could not be taken over, and how many of each. */
  notes: ReadonlyMap<string, number>;
}

/** More say no more than these. */
const MAX_CONFLICTS = 200;

const REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  id: 'its id is taken',
  email: 'somebody here has its address',
  phone: 'somebody here has its number',
  identity: 'somebody here has this identity',
  taken: 'another row of the source has the same address, number or name',
};

/** Counts along the way. */
export interface Tally {
  report: ImportReport;
  readonly count: (kind: Kind) => Count;
  readonly note: (what: string, count?: number) => void;
  readonly conflict: (sentence: string) => void;
  readonly unprovable: (sentence: string) => void;
  readonly changedThere: (user: string) => void;
  /** @param nameOf how people know the row */
  readonly add: (kind: Kind, outcomes: readonly RowOutcome[], nameOf: (id: string) => string) => void;
}

/** An empty report, and what fills it. */
export function openTally(): Tally {
  const counts = new Map<Kind, Count>();
  const conflicts: string[] = [];
  const notes = new Map<string, number>();
  const unprovable: string[] = [];
  const changedThere: string[] = [];
  const report = { counts, conflicts, conflictCount: 0, unprovable, changedThere, notes };
  const count = (kind: Kind): Count => {
    const known = counts.get(kind) ?? { read: 0, made: 0, known: 0, left: 0 };
    counts.set(kind, known);
    return known;
  };
  const note = (what: string, more = 1): void => void notes.set(what, (notes.get(what) ?? 0) + more);
  const conflict = (sentence: string): void => {
    report.conflictCount++;
    if (conflicts.length < MAX_CONFLICTS) conflicts.push(sentence);
  };
  return {
    report,
    count,
    note,
    conflict,
    unprovable: (sentence) => void unprovable.push(sentence),
    changedThere: (user) => void changedThere.push(user),
    add(kind, outcomes, nameOf) {
      const sums = count(kind);
      for (const { id, outcome } of outcomes) {
        if (outcome === 'made') sums.made++;
        else if (outcome === 'known') sums.known++;
        else sums.left++;
        const reason = REASONS[outcome];
        if (reason !== undefined) conflict(`${nameOf(id)}: ${reason}`);
        if (outcome === 'orphan') note(`${kind} of users that were not taken over`);
        if (outcome === 'over') note('sessions past their end');
      }
    },
  };
}
