import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const userNotFound = (): Failure => new Failure('not-found', 'user_not_found', 'User not found');
/** An id in a path that none can have. */
export const userIdNotUuid = (): Failure =>
  new Failure('not-found', 'validation_failed', 'user_id must be an UUID');
export const newUserAddressMissing = (): Failure =>
  invalidValue('Cannot create a user without either an email or phone');
export const newUserPhoneTaken = (): Failure =>
  new Failure('unprocessable', 'phone_exists', 'Phone number already registered by another user');
export const passwordAndHash = (): Failure =>
  invalidValue('Only a password or a password hash should be provided');
export const passwordHashUnsupported = (): Failure =>
  invalidValue('password_hash must be a bcrypt, argon2 or Firebase scrypt hash');
export const newUserIdInvalid = (): Failure => invalidValue('ID must conform to the uuid v4 format');
export const newUserIdNil = (): Failure => invalidValue('ID cannot be a nil uuid');
export const userIdTaken = (): Failure =>
  new Failure('unprocessable', 'validation_failed', 'A user with this id already exists');
export const banDurationInvalid = (given: string): Failure =>
  invalidValue(`invalid format for ban duration: time: invalid duration ${JSON.stringify(given)}`);

// Lists
export const badPagination = (text: string): Failure =>
  invalidValue(`Bad Pagination Parameters: ${JSON.stringify(text)} is no page`);
export const pageTooLarge = (): Failure =>
  invalidValue('The users of this page have too much metadata together: ask for fewer of them, or by cursor');
export const badSort = (text: string): Failure =>
  invalidValue(`Bad Sort Parameters: ${JSON.stringify(text)} is not created_at with asc or desc`);
export const badCursor = (): Failure => invalidValue('Bad Pagination Parameters: this is no cursor of ours');
export const badAuditQuery = (query: string): Failure => invalidValue(`Invalid query scope: ${query}`);

// Links
export const emailUnknown = (): Failure =>
  new Failure('not-found', 'user_not_found', 'User with this email not found');
export const secureEmailChangeOff = (): Failure =>
  invalidValue('Enable secure email change to generate link for current email');
export const linkTypeInvalid = (type: string): Failure =>
  invalidValue(`Invalid email action link type requested: ${type}`);
