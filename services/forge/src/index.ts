export type { Finding } from './maintenance/examine.ts';
export { type ForgeTasks, openForgeTasks } from './maintenance/tasks.ts';
export type { ForgeOptions } from './open-resources.ts';
export { checkForge, migrateForge, startForge } from './service.ts';
export { type ForgeSettings, forgeSettings } from './settings.ts';
