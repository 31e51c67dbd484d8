-- Authors of commits are looked for by the address in the commit.
create index users_by_email on :schema.users (lower(email)) where email <> '';
