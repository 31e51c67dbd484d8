alter table :schema.pulls
  -- Of a pull request that was pushed for review (refs/for/…) what its poster calls it. Its head is no branch, only its
  -- own ref, so that there is no head_repository_id: nothing that happens to branches concerns it.
  add column topic text,
  add constraint pulls_topic_check check (topic is null or head_repository_id is null);
create index pulls_by_topic on :schema.pulls (repository_id, topic, base_branch) where topic is not null and merged_at is null;

-- With one more column: how many comments on lines a pull request has that everybody may see.
create or replace view :schema.review_wishes as
  select p.id as pull_id,
    coalesce((select jsonb_agg(q.reviewer_id order by q.id) from :schema.review_requests q
      where q.pull_id = p.id and q.reviewer_id is not null), '[]'::jsonb) as reviewer_ids,
    coalesce((select jsonb_agg(to_jsonb(t) order by q.id) from :schema.review_requests q
      join :schema.teams t on t.id = q.team_id where q.pull_id = p.id), '[]'::jsonb) as reviewer_teams,
    (select count(*)::int from :schema.reviews r join :schema.review_comments c on c.review_id = r.id
      where r.pull_id = p.id and r.kind <> 'PENDING') as review_comments
  from :schema.pulls p;
