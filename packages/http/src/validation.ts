import type { FastifySchemaCompiler } from 'fastify';
import type { ZodType } from 'zod';
import type { Issue } from './errors.ts';

/** A request that does not fit its schema; Fastify adds `validationContext`. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  readonly issues: readonly Issue[];
  validationContext?: string;

  constructor(issues: readonly Issue[]) {
    super('the request does not fit its schema');
    this.issues = issues;
  }
}

/** Lets zod validate and convert what Fastify hands it. */
export const compileValidator: FastifySchemaCompiler<ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    const issues = result.error.issues.map(({ path, message, code }) => ({
      path: path as (string | number)[],
      message,
      code,
    }));
    return { error: new InvalidRequest(issues) };
  };
