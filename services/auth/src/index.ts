export { createAdministrator, type NewAdministrator } from './admin/create-administrator.ts';
export { type AdminTasks, openAdminTasks, type UserPage } from './admin/tasks.ts';
export type { AuthOptions } from './open-context.ts';
export { migrateAuth, startAuth } from './service.ts';
export { type AuthSettings, authSettings } from './settings.ts';
