-- Outgoing webhooks (http-api.md 21): one row per target and event, written in the transaction of what it tells. A row has
-- what it takes to send it and outlives its instance. `next_attempt_at` is the only key of the senders: of a pending row the
-- next attempt, of one that is being sent the instant at which its sender counts as dead. A parked row has none.
CREATE TABLE stepwell.webhook_outbox (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  event_type text NOT NULL,
  url text COLLATE "C" NOT NULL,
  payload jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  claim_token uuid,
  next_attempt_at timestamptz,
  claimed_at timestamptz,
  created_at timestamptz NOT NULL,
  CONSTRAINT webhook_outbox_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_outbox_status_check CHECK (status IN ('pending', 'in_flight', 'parked')),
  CONSTRAINT webhook_outbox_due_check CHECK ((status = 'parked') = (next_attempt_at IS NULL)),
  CONSTRAINT webhook_outbox_claim_check CHECK ((status = 'in_flight') = (claim_token IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX webhook_outbox_due_idx ON stepwell.webhook_outbox (url, next_attempt_at, id)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_outbox_status_idx ON stepwell.webhook_outbox (status, created_at, id);
CREATE INDEX webhook_outbox_tenant_idx ON stepwell.webhook_outbox (tenant_id, status, created_at, id);

-- What has been sent, for 30 days after the last attempt: one row per delivery and one per attempt. The id of a delivery is
-- the id that its outbox row has or had.
CREATE TABLE stepwell.webhook_sends (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  event_type text NOT NULL,
  url text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  delivered boolean NOT NULL,
  first_attempt_at timestamptz NOT NULL,
  last_attempt_at timestamptz NOT NULL,
  last_error_class text,
  CONSTRAINT webhook_sends_pkey PRIMARY KEY (id)
) WITH (fillfactor = 80);

CREATE INDEX webhook_sends_listing_idx ON stepwell.webhook_sends (first_attempt_at, id);
CREATE INDEX webhook_sends_age_idx ON stepwell.webhook_sends (last_attempt_at);

CREATE TABLE stepwell.webhook_attempts (
  delivery_id uuid NOT NULL,
  attempt_number integer NOT NULL,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  attempted_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  success boolean NOT NULL,
  status_code integer,
  error_class text,
  error_excerpt text,
  signed boolean NOT NULL,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, attempt_number)
);

-- Part of a commit. The rows are ready to be sent once it is there.
CREATE FUNCTION stepwell.queue_webhooks(p_webhooks jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.webhook_outbox (id, tenant_id, instance_id, event_type, url, payload, next_attempt_at, created_at)
  SELECT (w.v ->> 'id')::uuid, t.tenant_id, t.instance_id, w.v ->> 'eventType', w.v ->> 'url', w.v -> 'payload', t.at, t.at
  FROM jsonb_array_elements(p_webhooks) AS w(v)
  JOIN unnest(a) AS t ON t.i = (w.v ->> 'i')::integer
  WHERE t.verdict = 'ok';
END $$;

CREATE FUNCTION stepwell.outbox_json(o stepwell.webhook_outbox) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('id', o.id, 'tenantId', o.tenant_id, 'instanceId', o.instance_id, 'eventType', o.event_type,
  'url', o.url, 'payload', o.payload, 'status', o.status, 'attempts', o.attempts, 'lastError', o.last_error,
  'nextAttemptAt', stepwell.to_ms(o.next_attempt_at), 'claimedAt', stepwell.to_ms(o.claimed_at),
  'createdAt', stepwell.to_ms(o.created_at));

-- The rows that a sender has taken; from now on until the end of the lease they are nobody else's.
CREATE FUNCTION stepwell.take_webhooks(p_ids uuid[], p_token uuid, p_lease_ms bigint, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.webhook_outbox o
  SET status = 'in_flight', claim_token = p_token, claimed_at = p_now,
    next_attempt_at = p_now + p_lease_ms * interval '1 millisecond'
  WHERE o.id = ANY (p_ids);
  RETURN (
    SELECT coalesce(json_agg(stepwell.outbox_json(o) ORDER BY o.created_at, o.id), '[]')
    FROM stepwell.webhook_outbox o WHERE o.id = ANY (p_ids));
END $$;

-- Rows whose time has come, up to p_per_url for each target less what the caller has under way there, so that a target that
-- does not answer holds up none but itself. Rows that another sender is taking are left to it.
CREATE FUNCTION stepwell.claim_webhooks_v1(p_token uuid, p_lease_ms bigint, p_per_url integer, p_under_way jsonb)
RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_url text := '';
  v_room integer;
  v_some uuid[];
  v_ids uuid[] := '{}';
BEGIN
  LOOP
    SELECT o.url INTO v_url FROM stepwell.webhook_outbox o
    WHERE o.next_attempt_at IS NOT NULL AND o.url > v_url
    ORDER BY o.url LIMIT 1;
    EXIT WHEN NOT FOUND;
    v_room := greatest(0, p_per_url - coalesce((p_under_way ->> v_url)::integer, 0));
    SELECT array_agg(c.id) INTO v_some FROM (
      SELECT o.id FROM stepwell.webhook_outbox o
      WHERE o.next_attempt_at IS NOT NULL AND o.url = v_url AND o.next_attempt_at <= v_now
      ORDER BY o.next_attempt_at, o.id LIMIT v_room
      FOR UPDATE SKIP LOCKED
    ) c;
    v_ids := v_ids || v_some;
  END LOOP;
  IF cardinality(v_ids) = 0 THEN
    RETURN '[]'::json;
  END IF;
  RETURN stepwell.take_webhooks(v_ids, p_token, p_lease_ms, v_now);
END $$;

-- One row by its id, for an attempt by hand. `busy`: somebody is sending it right now.
CREATE FUNCTION stepwell.claim_webhook_v1(p_tenant text, p_id uuid, p_token uuid, p_lease_ms bigint) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  o stepwell.webhook_outbox;
  v_now timestamptz;
BEGIN
  SELECT * INTO o FROM stepwell.webhook_outbox w
  WHERE w.id = p_id AND (p_tenant IS NULL OR w.tenant_id = p_tenant) FOR UPDATE;
  IF o.id IS NULL THEN
    RETURN json_build_object('status', 'not_found');
  END IF;
  v_now := stepwell.sw_now();
  IF o.status = 'in_flight' AND o.next_attempt_at > v_now THEN
    RETURN json_build_object('status', 'busy');
  END IF;
  RETURN json_build_object('status', 'claimed', 'entry',
    stepwell.take_webhooks(ARRAY[p_id], p_token, p_lease_ms, v_now) -> 0);
END $$;

-- What came of an attempt: it is written down, and the row goes, waits for its next attempt or is parked. False when the
-- claim has meanwhile gone to another sender or the row was deleted: then nothing is written.
CREATE FUNCTION stepwell.finish_webhook_v1(p jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  o stepwell.webhook_outbox;
  v_now timestamptz;
  v_success boolean := p -> 'errorClass' IS NULL OR p -> 'errorClass' = 'null';
BEGIN
  SELECT * INTO o FROM stepwell.webhook_outbox w WHERE w.id = (p ->> 'id')::uuid FOR UPDATE;
  IF o.id IS NULL OR o.claim_token IS DISTINCT FROM (p ->> 'claimToken')::uuid THEN
    RETURN false;
  END IF;
  v_now := stepwell.sw_now();
  INSERT INTO stepwell.webhook_attempts (delivery_id, attempt_number, id, tenant_id, attempted_at, duration_ms, success,
    status_code, error_class, error_excerpt, signed)
  VALUES (o.id, o.attempts + 1, stepwell.uuid_v7(v_now), o.tenant_id, o.claimed_at, (p ->> 'durationMs')::integer,
    v_success, (p ->> 'statusCode')::integer, p ->> 'errorClass', p ->> 'errorExcerpt', (p -> 'signed')::boolean);
  INSERT INTO stepwell.webhook_sends AS s (id, tenant_id, instance_id, event_type, url, attempts, delivered,
    first_attempt_at, last_attempt_at, last_error_class)
  VALUES (o.id, o.tenant_id, o.instance_id, o.event_type, o.url, 1, v_success, o.claimed_at, o.claimed_at, p ->> 'errorClass')
  ON CONFLICT ON CONSTRAINT webhook_sends_pkey
  DO UPDATE SET attempts = s.attempts + 1, delivered = v_success, last_attempt_at = excluded.last_attempt_at,
    last_error_class = coalesce(excluded.last_error_class, s.last_error_class);
  IF v_success THEN
    DELETE FROM stepwell.webhook_outbox w WHERE w.id = o.id;
    RETURN true;
  END IF;
  UPDATE stepwell.webhook_outbox w
  SET status = CASE WHEN p ? 'retryAfterMs' THEN 'pending' ELSE 'parked' END,
    next_attempt_at = v_now + (p ->> 'retryAfterMs')::bigint * interval '1 millisecond',
    attempts = w.attempts + 1, last_error = p ->> 'errorExcerpt', claim_token = NULL, claimed_at = NULL
  WHERE w.id = o.id;
  RETURN true;
END $$;

CREATE FUNCTION stepwell.list_webhook_outbox_v1(p_tenant text, p_status text, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF p_tenant IS NULL THEN
    RETURN (
      SELECT coalesce(json_agg(stepwell.outbox_json(o) ORDER BY o.created_at DESC, o.id DESC), '[]') FROM (
        SELECT w.* FROM stepwell.webhook_outbox w WHERE w.status = p_status
        ORDER BY w.created_at DESC, w.id DESC LIMIT p_limit) l
      JOIN stepwell.webhook_outbox o ON o.id = l.id);
  END IF;
  RETURN (
    SELECT coalesce(json_agg(stepwell.outbox_json(o) ORDER BY o.created_at DESC, o.id DESC), '[]') FROM (
      SELECT w.* FROM stepwell.webhook_outbox w WHERE w.tenant_id = p_tenant AND w.status = p_status
      ORDER BY w.created_at DESC, w.id DESC LIMIT p_limit) l
    JOIN stepwell.webhook_outbox o ON o.id = l.id);
END $$;

CREATE FUNCTION stepwell.get_webhook_v1(p_tenant text, p_id uuid) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  RETURN (SELECT stepwell.outbox_json(o) FROM stepwell.webhook_outbox o
    WHERE o.id = p_id AND (p_tenant IS NULL OR o.tenant_id = p_tenant));
END $$;

CREATE FUNCTION stepwell.delete_webhook_v1(p_tenant text, p_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  DELETE FROM stepwell.webhook_outbox o WHERE o.id = p_id AND (p_tenant IS NULL OR o.tenant_id = p_tenant);
  RETURN FOUND;
END $$;

CREATE FUNCTION stepwell.list_webhook_sends_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object('deliveryId', l.id, 'url', l.url, 'eventType', l.event_type,
      'instanceId', l.instance_id, 'attempts', l.attempts, 'delivered', l.delivered,
      'firstAttemptAt', stepwell.to_ms(l.first_attempt_at), 'lastAttemptAt', stepwell.to_ms(l.last_attempt_at),
      'lastErrorClass', l.last_error_class) ORDER BY l.first_attempt_at DESC, l.id DESC), '[]')
    FROM (
      SELECT s.* FROM stepwell.webhook_sends s
      WHERE (p -> 'tenantId' = 'null' OR s.tenant_id = p ->> 'tenantId')
        AND (p -> 'url' = 'null' OR s.url = p ->> 'url')
        AND (p -> 'eventType' = 'null' OR s.event_type = p ->> 'eventType')
        AND (p -> 'delivered' = 'null' OR s.delivered = (p ->> 'delivered')::boolean)
        AND (p -> 'errorClass' = 'null' OR s.last_error_class = p ->> 'errorClass')
      ORDER BY s.first_attempt_at DESC, s.id DESC LIMIT (p ->> 'limit')::integer
    ) l);
END $$;

-- The attempts of a delivery in order, the first thousand; null when there is no such delivery.
CREATE FUNCTION stepwell.list_webhook_attempts_v1(p_tenant text, p_delivery uuid) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off AS $$
BEGIN
  RETURN (
    SELECT (
      SELECT json_agg(json_build_object('id', l.id, 'deliveryId', s.id, 'url', s.url, 'eventType', s.event_type,
        'instanceId', s.instance_id, 'attemptNumber', l.attempt_number, 'attemptedAt', stepwell.to_ms(l.attempted_at),
        'durationMs', l.duration_ms, 'success', l.success, 'statusCode', l.status_code, 'errorClass', l.error_class,
        'errorExcerpt', l.error_excerpt, 'signed', l.signed) ORDER BY l.attempt_number)
      FROM (
        SELECT a.* FROM stepwell.webhook_attempts a WHERE a.delivery_id = s.id ORDER BY a.attempt_number LIMIT 1000) l)
    FROM stepwell.webhook_sends s WHERE s.id = p_delivery AND (p_tenant IS NULL OR s.tenant_id = p_tenant));
END $$;

-- History past its time; an attempt after that begins it afresh.
CREATE FUNCTION stepwell.remove_old_sends(p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_ids uuid[];
BEGIN
  SELECT array_agg(l.id) INTO v_ids FROM (
    SELECT s.id FROM stepwell.webhook_sends s WHERE s.last_attempt_at <= p_now - interval '30 days'
    ORDER BY s.last_attempt_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ) l;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  DELETE FROM stepwell.webhook_attempts a WHERE a.delivery_id = ANY (v_ids);
  DELETE FROM stepwell.webhook_sends s WHERE s.id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $$;

CALL stepwell.protect_new();
