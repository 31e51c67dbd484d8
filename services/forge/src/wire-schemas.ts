import { z } from 'zod';
import { canBeTold } from './rules/requests/read-time.ts';

/** Body of every error. */
export const errorSchema = z.object({ message: z.string(), url: z.string() });

/** An answer without a body. */
export const emptySchema = z.undefined().describe('no body');

/** PostgreSQL refuses it, and no person writes it. */
const unlessNul = (value: string) => (value.includes('\0') ? undefined : value);

/** A query parameter; of a repeated one the first value counts, and one with NUL for none. */
export const parameter = z
  .preprocess((value) => (Array.isArray(value) ? value[0] : value), z.string())
  .transform(unlessNul)
  .optional();

/** A query parameter with several values, which have commas between them or come one by one; one with NUL counts for none. */
export const listed = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => unlessNul([value].flat().join(',')))
  .optional();

/** A query parameter with values that may have commas in them, so that it is there several times. */
export const repeated = z.preprocess((value) => [value].flat(), z.array(z.string())).optional();

/** The two parameters of every list. */
export const pageParameters = { page: parameter, limit: parameter };

/** The path of a repository. */
export const repositoryPath = z.object({ owner: z.string(), repo: z.string() });

/** The path of something with a number in a repository. */
export const numberedPath = repositoryPath.extend({ index: z.string() });

/**
 * Text without NUL, which PostgreSQL cannot keep and no person writes. Halves of characters, which it refuses too, become
 * what Go's decoder makes of them.
 */
export const storable = z
  .string()
  .regex(/^[^\0]*$/, 'NUL is not allowed')
  .overwrite((text) => text.toWellFormed());

/** Longest line; the reference's columns have the same width. */
const MAX_LINE = 255;

/** Go's decoder takes null for a field's zero value; so do we. */
export const optional = {
  text: storable.nullish(),
  /** What is shown beside other things, once for each of them. */
  line: storable.max(MAX_LINE, `MaxSize(${MAX_LINE})`).nullish(),
  integer: z.int().nullish(),
  boolean: z.boolean().nullish(),
  texts: z.array(storable).nullish(),
  integers: z.array(z.int()).nullish(),
  time: z.iso
    .datetime({ offset: true, error: 'expected a time such as 2026-01-31T00:00:00Z' })
    .refine(canBeTold, 'expected a time in the years 1 to 9999')
    .nullish(),
};

/** Text that must be there and have something in it. */
export const requiredText = storable.trim().min(1, 'Required');

/** A time on the wire. */
export const timeSchema = z.string().describe('RFC 3339, whole seconds');
