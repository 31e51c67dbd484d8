alter table :schema.merges
  -- The base of a pull request that is merged along with those it stands on, as long as that is not recorded: the head
  -- branch of the one below it. Null for all others, whose base is the branch that moves.
  add column stacked_on text;
