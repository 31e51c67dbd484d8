create index hook_deliveries_ended on :schema.hook_deliveries (hook_id, id desc) where delivered_at is not null;
-- What goes with something else is found without reading everything.
create index notifications_by_issue on :schema.notifications (issue_id);
create index notifications_by_comment on :schema.notifications (comment_id) where comment_id is not null;
create index notifications_by_repository on :schema.notifications (repository_id);
create index attachments_by_repository on :schema.attachments (repository_id);
create index attachments_by_uploader on :schema.attachments (uploader_id) where uploader_id is not null;
create index comments_by_poster on :schema.comments (poster_id) where poster_id is not null;
create index commit_statuses_by_creator on :schema.commit_statuses (creator_id) where creator_id is not null;
create index former_logins_by_user on :schema.former_logins (user_id);
create index former_repository_names_by_repository on :schema.former_repository_names (repository_id);
create index issue_subscriptions_by_user on :schema.issue_subscriptions (user_id);
create index pulls_by_repository on :schema.pulls (repository_id);
create index pulls_by_merger on :schema.pulls (merged_by) where merged_by is not null;
create index reactions_by_user on :schema.reactions (user_id);
create index stopwatches_by_issue on :schema.stopwatches (issue_id);
