export {
  boolean,
  choice,
  duration,
  integer,
  type Kind,
  list,
  parseDuration,
  port,
  secret,
  text,
  url,
} from './kinds.ts';
export { nearestName } from './nearest-name.ts';
export { Secret } from './secret.ts';
export {
  defineSettings,
  describeSettings,
  readSettings,
  type Setting,
  SettingsError,
  type SettingsTable,
  unknownVariables,
  type Values,
} from './settings.ts';
