-- Who makes, moves and deletes the tags that a pattern names. As in the options of branch protections, ids of people and teams
-- who are gone stay in the lists: nobody gets them again.
create table :schema.tag_protections (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  -- A glob, or a regular expression between slashes.
  name_pattern text not null,
  -- Lists of ids, which nobody queries by.
  user_ids jsonb not null,
  team_ids jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint tag_protections_name_pattern_key unique (repository_id, name_pattern)
);
