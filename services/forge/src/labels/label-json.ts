import { z } from 'zod';
import type { Links } from '../links.ts';
import type { LabelCard } from '../store/issues/labels.ts';

/** A label on the wire. */
export const labelSchema = z.object({
  id: z.int(),
  name: z.string(),
  color: z.string().describe('six hexadecimal digits without `#`'),
  description: z.string(),
  url: z.string(),
  exclusive: z.boolean(),
  is_archived: z.boolean(),
});

/** A label as everybody gets it; one of an organization is shown by issues of all its repositories. */
export function labelJson(
  label: LabelCard,
  names: { owner: string; repo: string },
  links: Links,
): z.output<typeof labelSchema> {
  const home =
    label.organization_id === null ? `/repos/${names.owner}/${names.repo}` : `/orgs/${names.owner}`;
  return {
    id: label.id,
    name: label.name,
    color: label.color,
    description: label.description,
    url: links.api(`${home}/labels/${label.id}`),
    exclusive: label.exclusive,
    is_archived: label.is_archived,
  };
}
