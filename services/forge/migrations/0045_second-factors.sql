-- Whether the auth service says that the account's owner has a second factor, as it says who was banned: a session without it is not enough then.
alter table :schema.users add column has_second_factor boolean not null default false;
