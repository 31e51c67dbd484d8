-- Times that no answer can tell, and that made every list with them fail: before the year 1 and from 10000 on. They are refused now.
update :schema.milestones set due_at = null where due_at < '0001-01-01 00:00Z' or due_at >= '10000-01-01 00:00Z';
update :schema.issues set deadline_at = null
  where deadline_at < '0001-01-01 00:00Z' or deadline_at >= '10000-01-01 00:00Z';
update :schema.tracked_times t set created_at = i.created_at from :schema.issues i
  where i.id = t.issue_id and (t.created_at < '0001-01-01 00:00Z' or t.created_at >= '10000-01-01 00:00Z');
