// Every way a request can be refused, named by the situation. Codes and texts are the protocol of GoTrue's clients.
export * from './failures/account.ts';
export * from './failures/admin.ts';
export * from './failures/caller.ts';
export * from './failures/disabled.ts';
export * from './failures/external.ts';
export * from './failures/factors.ts';
export * from './failures/hooks.ts';
export * from './failures/id-token.ts';
export * from './failures/identities.ts';
export * from './failures/passwords.ts';
export * from './failures/request.ts';
export * from './failures/send.ts';
export * from './failures/sign-in.ts';
export * from './failures/sign-up.ts';
export * from './failures/verification.ts';
export * from './failures/web3.ts';
