export { createAdministrator, type NewAdministrator } from './admin/create-administrator.ts';
export { type AuthOptions, migrateAuth, startAuth } from './service.ts';
export { type AuthSettings, authSettings } from './settings.ts';
