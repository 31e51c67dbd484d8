import { type Fragment, fragment } from '@croft/sql';
import type { MetadataKind } from '../rows.ts';

/** Bytes that metadata may have, as the database spells it. */
export type MetadataLimits = Readonly<Record<MetadataKind, number>>;

/** What is laid over a user's metadata, as JSON texts; members that are null go away. */
export type MetadataPatches = Readonly<Record<MetadataKind, string>>;

/** JSON texts of what is laid over the metadata. */
export function metadataPatches(user: object | undefined, app: object | undefined): MetadataPatches {
  return { user_metadata: JSON.stringify(user ?? {}), app_metadata: JSON.stringify(app ?? {}) };
}

/**
 * Two parts of a `with` for the user in `locked`, a part with both columns: `merged` has both kinds as they would be, and
 * `too_large` a row that says which kind would have too many bytes, and more than it has now.
 */
export function mergedMetadata(patches: MetadataPatches, limits: MetadataLimits): Fragment {
  const { user_metadata: user, app_metadata: app } = patches;
  return fragment`merged as (
      select raw_user_meta_data as former_user, ${laidOver(fragment`raw_user_meta_data`, user)} as user_data,
        raw_app_meta_data as former_app, ${laidOver(fragment`raw_app_meta_data`, app)} as app_data
      from locked),
    too_large as (
      select what from merged, lateral (values
          ('user_metadata', ${user}::text, former_user, user_data, ${limits.user_metadata}::int),
          ('app_metadata', ${app}::text, former_app, app_data, ${limits.app_metadata}::int)
        ) as kind (what, patch, former, data, most)
      where patch <> '{}' and octet_length(data::text) > most and octet_length(data::text) > octet_length(former::text)
      order by what desc limit 1)`;
}

function laidOver(present: Fragment, patch: string): Fragment {
  return fragment`(select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${present} || ${patch}::jsonb)
          where value <> 'null' or not ${patch}::jsonb ? key)`;
}
