-- A text that names an issue is in that issue's timeline once, whoever reads the text again; and goes with its source.
create unique index comments_reference_key on :schema.comments ((details->>'ref_key'), issue_id)
  where details ? 'ref_key';
create index attachments_unfinished on :schema.attachments (id) where not stored;
create index issues_pinned on :schema.issues (repository_id, is_pull, pin_order) where pin_order > 0;
