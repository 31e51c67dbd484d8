-- What answers tell of the issues of a page besides their rows, each thing once: looked up for each issue by itself, as in
-- `issue_surroundings`, it takes half as long again. Labels and the assigned are in the order in which issues show them.
drop function :schema.people_around;
create function :schema.issues_around(issues bigint[]) returns json language plpgsql stable
as $$
begin
  return (
    with page as materialized (
      select i.id, i.is_pull, i.poster_id, i.milestone_id from :schema.issues i where i.id = any(issues)
    ), labelled as materialized (
      select x.issue_id, x.label_id from :schema.issue_labels x where x.issue_id = any(issues)
    ), assigned as materialized (
      select a.issue_id, a.user_id from :schema.issue_assignees a where a.issue_id = any(issues)
      order by a.position, a.user_id
    )
    select json_build_object(
      'people', (select json_agg(u) from :schema.users u
        where u.id in (select p.poster_id from page p union all select a.user_id from assigned a)),
      'assigned', (select json_build_object('issue_id', json_agg(a.issue_id), 'user_id', json_agg(a.user_id)) from assigned a),
      'labels', (select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color,
          'description', l.description, 'exclusive', l.exclusive, 'organization_id', l.organization_id,
          'is_archived', l.archived_at is not null) order by lower(l.name), l.id)
        from :schema.labels l where l.id in (select x.label_id from labelled x)),
      'labelled', (select json_build_object('issue_id', json_agg(x.issue_id), 'label_id', json_agg(x.label_id)) from labelled x),
      'milestones', (select json_agg(m) from :schema.milestones m where m.id in (select p.milestone_id from page p)),
      'attachments', (select json_agg(f order by f.id) from :schema.attachments f
        where f.issue_id = any(issues) and f.comment_id is null and f.stored),
      'pulls', (select json_agg(json_build_object('issue_id', q.issue_id, 'id', q.id, 'merged_at', q.merged_at))
        from :schema.pulls q where q.issue_id in (select p.id from page p where p.is_pull))));
end
$$;

-- The issues of a scope that are in all of some sets, by their blocks, and how many they are; a set that is null is none.
-- The statement is written for the sets there are: one for all of them took twice as long, with those that are null. By
-- hash, however many the planner takes them to be: else it may go through a whole set for each block.
create or replace function :schema.join_bits(
  scope :schema.list_scope[], is_closed boolean, is_pull boolean, label_ids bigint[], worded :schema.hits,
  naming :schema.hits, changed :schema.hits, unchanged :schema.hits, out homes bigint[], out bits bigint[], out total bigint
) language plpgsql stable set enable_nestloop to off set enable_mergejoin to off as $$
declare
  joins text := '';
  filter text := case is_closed when true then ' & b.closed' when false then ' & ~b.closed' else '' end
    || case is_pull when true then ' & b.pulls' when false then ' & ~b.pulls' else '' end;
begin
  if label_ids is not null then
    joins := joins || ' join (select x.block_id as id, bit_or(x.bits) as bits from :schema.label_blocks x
      where x.label_id = any($2) group by x.block_id) l using (id)';
    filter := filter || ' & l.bits';
  end if;
  if worded is not null then
    joins := joins || ' join unnest($3, $4) w (id, bits) using (id)';
    filter := filter || ' & w.bits';
  end if;
  if naming is not null then
    joins := joins || ' join unnest($5, $6) n (id, bits) using (id)';
    filter := filter || ' & n.bits';
  end if;
  if changed is not null then
    joins := joins || ' join unnest($7, $8) c (id, bits) using (id)';
    filter := filter || ' & c.bits';
  end if;
  if (unchanged).blocks is not null then
    joins := joins || ' left join unnest($9, $10) u (id, bits) using (id)';
    filter := filter || ' & ~coalesce(u.bits, 0)';
  end if;
  execute 'select array_agg(m.home), array_agg(m.bits), coalesce(sum(bit_count(m.bits::bit(64))), 0)
    from (
      select :schema.home_of(b.repository_id, b.block) as home,
        b.present & (case when s.issues then ~b.pulls else 0 end | case when s.pulls then b.pulls else 0 end)'
      || filter || ' as bits
      from unnest($1) s join :schema.issue_blocks b using (repository_id)' || joins || '
    ) m where m.bits <> 0'
    into homes, bits, total
    using scope, label_ids, worded.blocks, worded.bits, naming.blocks, naming.bits, changed.blocks, changed.bits,
      unchanged.blocks, unchanged.bits;
end
$$;
