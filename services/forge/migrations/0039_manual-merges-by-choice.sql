-- Whoever may write could say that a pull request was merged, past what its protection requires: repositories have to want that.
-- Those that are there keep what they have.
alter table :schema.repositories alter column allow_manual_merge set default false;
