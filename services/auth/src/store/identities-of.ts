import { type Fragment, fragment } from '@croft/sql';

/** The identities of a user as a JSON array, the oldest first, those of one moment by provider. */
export const identitiesOf = (userId: Fragment): Fragment =>
  fragment`(select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at, i.provider), '[]') from :schema.identities i
        where i.user_id = ${userId})`;
