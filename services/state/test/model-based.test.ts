import { skipWithout } from '@croft/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { btrfs } from './drivers/btrfs-image.ts';
import { vault } from './drivers/vault-folder.ts';
import { useZfs, zfs } from './drivers/zfs-pool.ts';
import {
  collect,
  compare,
  compareContent,
  create,
  dissociate,
  filesIn,
  goBack,
  lose,
  move,
  PLACES,
  Real,
  remove,
  type Step,
  save,
  write,
} from './model-steps.ts';
import { Model } from './plain-model.ts';

useZfs();

// Random sequences of everything that writes, against a model that fits on a page: after each call the daemon says what the
// model says, the storage holds what the daemon says, and the folders are as they should be; at the end every state holds
// what its folder held when it was saved.

const USERS = ['ada', 'bob'] as const;
const NAMES = ['one', 'two', 'three'] as const;
const FILES = ['f', 'd/g', 'd/e/h'] as const;

class Command implements fc.AsyncCommand<Model, Real> {
  readonly #text: string;
  readonly #step: Step;

  constructor(text: string, step: Step) {
    this.#text = text;
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#step(model, real);
    await compare(model, real);
  }

  toString(): string {
    return this.#text;
  }
}

const anyUser = fc.constantFrom(...USERS);
const anyPlace = fc.constantFrom(...PLACES);
const anyName = fc.constantFrom(...NAMES, '');
const anyOwner = fc.option(anyUser);

/** A step as it is told when it was part of what went wrong. */
const named = (name: string, given: readonly unknown[], step: Step) =>
  new Command(`${name}(${given.map((one) => fc.stringify(one)).join()})`, step);

type Weighted = readonly [number, fc.Arbitrary<Command>];

/** What every storage does alike: each user has his home at a place of his own. Each as often as it is worth. */
const EVERYWHERE: readonly Weighted[] = [
  [
    6,
    fc
      .tuple(
        fc.constantFrom('tree', ...PLACES),
        fc.constantFrom(...FILES),
        fc.option(fc.constantFrom('x', 'y', 'z')),
      )
      .map((given) => named('write', given, write(given[0], given[1], given[2] ?? undefined))),
  ],
  [5, fc.tuple(anyOwner, anyName).map((given) => named('save', given, save(...given)))],
  [
    3,
    fc
      .tuple(anyOwner, fc.constantFrom(...NAMES), fc.boolean())
      .map((given) => named('remove', given, remove(...given))),
  ],
  [1, fc.boolean().map((all) => named('collect', [all], collect(all)))],
  [
    3,
    fc
      .constantFrom<[string, string]>(['ada', 'p0'], ['bob', 'p1'])
      .map((given) => named('create', given, create(...given))),
  ],
  [2, fc.tuple(anyUser, fc.boolean()).map((given) => named('dissociate', given, dissociate(...given)))],
  [1, fc.constant(named('restart', [], (_model, real) => real.start()))],
];

/** And what is so only where homes are folders and going back needs no other boot. */
const ON_THE_VAULT: readonly Weighted[] = [
  ...EVERYWHERE,
  [3, fc.tuple(anyUser, anyPlace).map((given) => named('create', given, create(...given)))],
  [2, fc.tuple(anyPlace, anyPlace).map((given) => named('move', given, move(...given)))],
  [1, anyUser.map((user) => named('lose', [user], lose(user)))],
  [
    2,
    fc
      .tuple(fc.constantFrom(...NAMES), fc.boolean())
      .map((given) => named('goBack', given, goBack(...given))),
  ],
];

it.for([
  { fixture: vault, steps: ON_THE_VAULT, seconds: 25 },
  { fixture: btrfs, steps: EVERYWHERE, seconds: 15 },
  { fixture: zfs, steps: EVERYWHERE, seconds: 15 },
])(
  '$fixture.name behaves as the model says, whatever is called in whatever order',
  { timeout: 180_000 },
  async ({ fixture, steps, seconds }, context) => {
    const missing = fixture.missing();
    if (missing !== undefined) skipWithout(context, missing);
    let commands = 0;
    const end = performance.now() + seconds * 1000;
    const any = fc.oneof(...steps.map(([weight, arbitrary]) => ({ weight, arbitrary })));
    const sequences = fc.commands([any], { size: '+1', maxCommands: 30 });
    const property = fc.asyncProperty(sequences, async (given) => {
      // A run that has begun comes to its end, because what it opened has to be closed.
      if (performance.now() > end) return;
      const real = new Real(await fixture.open());
      try {
        const model = new Model(filesIn(real.storage.systemPath) ?? {});
        await real.start();
        await fc.asyncModelRun(() => ({ model, real }), given);
        await compareContent(model, real);
        commands += [...given].length;
      } finally {
        await real.close();
      }
    });
    await fc.assert(property, { numRuns: 200 });
    expect(commands).toBeGreaterThan(5);
  },
);
