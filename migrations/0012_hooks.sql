-- What runs around the steps of a run (chapter 18). Cleanup hooks are a column of the instance (hooks_pending in 0001):
-- while it says that a hook is due the ended instance has a due time, and the claims find it by their own index.
-- SLA alerts need no table either: a run that rests is due at its next alert at the latest.

-- Events for the targets of outgoing webhooks (http-api.md 21.1), written in the transaction of what they tell. `url` is
-- empty until the delivery has made an entry per target of an event.
CREATE TABLE stepwell.webhook_outbox (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  event_type text NOT NULL,
  url text NOT NULL DEFAULT '',
  payload jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  delivery_id uuid,
  next_attempt_at timestamptz,
  claimed_at timestamptz,
  created_at timestamptz NOT NULL,
  CONSTRAINT webhook_outbox_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_outbox_status_check CHECK (status IN ('pending', 'in_flight', 'parked'))
);

CREATE INDEX webhook_outbox_pending_idx ON stepwell.webhook_outbox (next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_outbox_instance_idx ON stepwell.webhook_outbox (instance_id);

CREATE FUNCTION stepwell.queue_webhooks(p_webhooks jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.webhook_outbox (id, tenant_id, instance_id, event_type, payload, next_attempt_at, created_at)
  SELECT (w.v ->> 'id')::uuid, t.tenant_id, t.instance_id, w.v ->> 'eventType', w.v -> 'payload', t.at, t.at
  FROM jsonb_array_elements(p_webhooks) AS w(v)
  JOIN unnest(a) AS t ON t.i = (w.v ->> 'i')::integer
  WHERE t.verdict = 'ok';
END $$;

CALL stepwell.protect_new();
