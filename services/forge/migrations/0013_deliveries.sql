create index hook_deliveries_ended on :schema.hook_deliveries (hook_id, id desc) where delivered_at is not null;
