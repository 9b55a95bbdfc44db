/** Tables of plans, subscriptions and plan requests. */
export const SUBSCRIPTIONS = `
create table subscription_templates (
  id text primary key,
  template_name text not null,
  -- The name in the form in which two are the same: NFKC, lower case.
  template_name_key text not null,
  base_price_cents integer not null check (base_price_cents >= 0),
  currency text not null,
  duration_months integer not null,
  max_devices integer not null,
  is_premium integer not null,
  features text not null,
  created_at text not null,
  constraint subscription_templates_template_name_key_unique unique (template_name_key)
);

create table subscriptions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  plan_name text not null,
  price_cents integer not null check (price_cents >= 0),
  currency text not null,
  duration_months integer not null,
  max_devices integer not null,
  is_premium integer not null,
  features text not null,
  starts_at text not null,
  expires_at text,
  ended_as text check (ended_as in ('replaced', 'cancelled')),
  ended_at text
);
-- However many admins assign at once, one subscription of a person is left.
create unique index subscriptions_one_user_id on subscriptions (user_id) where ended_as is null;
create index subscriptions_user_id_id on subscriptions (user_id, id);

create table subscription_requests (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  template_id text not null references subscription_templates(id) on delete cascade,
  status text not null check (status in ('open', 'granted', 'declined', 'withdrawn')),
  requested_at text not null,
  decided_at text
);
create unique index subscription_requests_open_template_id on subscription_requests (user_id, template_id) where status = 'open';
create index subscription_requests_user_id_id on subscription_requests (user_id, id);
`;
