export { createAdministrator, type NewAdministrator } from './admin/create-administrator.ts';
export { type AdminTasks, openAdminTasks, type UserPage } from './admin/tasks.ts';
export { type ImportFrom, importFromGoTrue } from './import/open-import.ts';
export type { ImportReport } from './import/report.ts';
export type { AuthOptions } from './open-context.ts';
export { migrateAuth, startAuth } from './service.ts';
export { type AuthSettings, authSettings } from './settings.ts';
