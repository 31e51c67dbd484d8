export {
  boolean,
  choice,
  duration,
  float,
  host,
  integer,
  ipAddress,
  type Kind,
  list,
  pairs,
  parseDuration,
  port,
  type Rate,
  rate,
  secret,
  text,
  timestamp,
  url,
  wait,
} from './kinds.ts';
export { nearestName } from './nearest-name.ts';
export { type Sealing, sealing } from './sealing.ts';
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
