export { answerDirectly, type Chunk, type DirectBody, type DirectTarget } from './answer-directly.ts';
export { answer } from './answer-errors.ts';
export { type AppOptions, createApp } from './app.ts';
export type { ErrorAnswer, ErrorContext, ErrorDialect, Issue } from './errors.ts';
export type { ApiDescription } from './openapi.ts';
export { answerOtherMethods } from './other-methods.ts';
export { closeGracefully, listen } from './server.ts';
export type { App, Reply, Request } from './types.ts';
