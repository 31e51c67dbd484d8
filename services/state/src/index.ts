export { socketPath } from './server/socket-path.ts';
export { type StartOptions, startState } from './service.ts';
export { type StateSettings, stateSettings } from './settings.ts';
