import packageJson from '../package.json' with { type: 'json' };

/** The version of Croft. */
export const version = packageJson.version;
