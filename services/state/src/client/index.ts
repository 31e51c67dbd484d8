export { type CommandOptions, runStateCommand } from './run-state-command.ts';
