import type { Request } from '@croft/http';
import { lastField } from '../requests.ts';

/** The grant of a POST /token whose body is not validated yet, found as the route finds it. */
export function grantOf(request: Request): unknown {
  const ofBody = lastField(request.body, 'grant_type') ?? '';
  const { grant_type: ofQuery } = request.query as Record<string, unknown>;
  return ofBody === '' ? [ofQuery].flat()[0] : ofBody;
}
