export * from './settings/index.ts';
