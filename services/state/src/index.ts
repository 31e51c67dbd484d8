export { socketPath } from './server/socket-path.ts';
export { type RunningState, type StartOptions, startState } from './service.ts';
export { type StateSettings, stateSettings } from './settings.ts';
