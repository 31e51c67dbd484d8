export type { ForgeOptions } from './open-resources.ts';
export { migrateForge, startForge } from './service.ts';
export { type ForgeSettings, forgeSettings } from './settings.ts';
