import { registerHooks } from 'node:module';

/**
 * Tells Node where the sources are, for all imports from now on. An import of ours names a file by its path and kind, so
 * there is nothing to look for; Node looks all the same (the file, its real path, the package.json above it), some four
 * thousand times, which is a fifth of the time that loading takes.
 */
export function resolveSources(): void {
  registerHooks({
    resolve(specifier, context, resolve) {
      const { parentURL } = context;
      if (parentURL === undefined || !/^\..*\.ts$/.test(specifier)) return resolve(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    },
  });
}
