-- What commits do beyond their own instance: signals, starts through event triggers, and waits for events.
--
-- Order of locks (RULINGS A16): first the correlation keys of events, as advisory locks of the transaction in the order of
-- their numbers, then the instances in one ordered statement, then inserts. Whoever matches an event with a wait holds the
-- key: so each event meets each wait, in one order.

-- Events from outside. A producer's id counts once per event name.
CREATE TABLE stepwell.events (
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  producer_event_id text COLLATE "C" NOT NULL,
  correlation_key text COLLATE "C" NOT NULL,
  payload jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  consumed_by uuid,
  match_no integer,
  received_at timestamptz NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_identity_key UNIQUE (producer_event_id, event_name, tenant_id),
  CONSTRAINT events_status_check CHECK (status IN ('pending', 'consumed', 'expired')),
  CONSTRAINT events_consumed_check CHECK ((status = 'consumed') = (consumed_by IS NOT NULL AND match_no IS NOT NULL))
) WITH (fillfactor = 80);

-- The correlation key comes first, and queries compare the tenant in a way that no index serves: so that a plan which is
-- made while the tables are empty cannot walk through all events of a tenant.
CREATE INDEX events_pending_idx ON stepwell.events (correlation_key, tenant_id, event_name, ordinal)
  WHERE status = 'pending';
CREATE INDEX events_match_idx ON stepwell.events (consumed_by, match_no) WHERE consumed_by IS NOT NULL;
CREATE INDEX events_listing_idx ON stepwell.events (tenant_id, ordinal);

-- One row per gate that waits for events, and per step that took some without a gate. `needed` matches satisfy it; for
-- `all` each name counts once.
CREATE TABLE stepwell.event_waits (
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  block_id text COLLATE "C" NOT NULL,
  iteration text COLLATE "C" NOT NULL,
  event_names text[] COLLATE "C" NOT NULL,
  correlation_key text COLLATE "C" NOT NULL,
  join_kind text NOT NULL,
  needed integer NOT NULL,
  matched_names text[] COLLATE "C" NOT NULL DEFAULT '{}',
  open boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  CONSTRAINT event_waits_pkey PRIMARY KEY (id),
  CONSTRAINT event_waits_join_check CHECK (join_kind IN ('all', 'any', 'count')),
  CONSTRAINT event_waits_open_check CHECK (NOT open OR cardinality(matched_names) < needed)
) WITH (fillfactor = 80);

CREATE INDEX event_waits_open_idx ON stepwell.event_waits (correlation_key, tenant_id, ordinal) WHERE open;
CREATE INDEX event_waits_node_idx ON stepwell.event_waits (instance_id, block_id, iteration, ordinal);

-- Which instance a dedupe key of emit_event started; scope is the emitter's id, or empty for the tenant ([EMIT-2]).
CREATE TABLE stepwell.emit_records (
  tenant_id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  dedupe_key text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  sequence_name text NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT emit_records_pkey PRIMARY KEY (tenant_id, scope, dedupe_key)
);

CREATE INDEX emit_records_expiry_idx ON stepwell.emit_records (expires_at);

CREATE FUNCTION stepwell.event_lock(p_tenant text, p_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN hashtextextended(p_tenant || E'\n' || p_key, 2203);

-- Takes the correlation keys that a commit needs, before any instance is locked, and answers the other instances that it
-- touches; null when there is none. Those of other tenants are not touched.
CREATE FUNCTION stepwell.hold_outside(p_tenant text, p_instance uuid, p_outside jsonb) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
BEGIN
  IF p_outside ? 'waits' OR p_outside ? 'takes' THEN
    FOR r IN
      SELECT DISTINCT stepwell.event_lock(p_tenant, w.v ->> 'correlationKey') AS key
      FROM (
        SELECT e.v FROM jsonb_array_elements(p_outside -> 'waits') AS e(v)
        UNION ALL
        SELECT e.v FROM jsonb_array_elements(p_outside -> 'takes') AS e(v)
      ) w
      ORDER BY 1
    LOOP
      PERFORM pg_advisory_xact_lock(r.key);
    END LOOP;
  END IF;
  IF p_outside ? 'signals' THEN
    RETURN (
      SELECT array_agg(t.id)
      FROM (
        SELECT (
          SELECT i.id FROM stepwell.task_instances i
          WHERE i.id = (s.v ->> 'instanceId')::uuid AND (i.tenant_id = p_tenant) IS TRUE) AS id
        FROM jsonb_array_elements(p_outside -> 'signals') AS s(v)
      ) t
      WHERE t.id <> p_instance);
  END IF;
  RETURN NULL;
END $$;

-- Writes what a commit does beyond its own instance and answers the number of the last fact of that instance after it. The
-- locks of hold_outside are held. What is not as the turn saw it undoes the whole commit (SW006, answered as `refused`):
-- the turn reads again and finds out why.
CREATE FUNCTION stepwell.write_outside(
  p_tenant text, p_instance uuid, p_ends boolean, p_outside jsonb, p_now timestamptz
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_outside ? 'signals' THEN
    PERFORM stepwell.write_signals(p_tenant, p_instance, p_ends, p_outside -> 'signals', p_now);
  END IF;
  IF p_outside ? 'emits' THEN
    PERFORM stepwell.write_emits(p_tenant, p_outside -> 'emits', p_now);
  END IF;
  IF p_outside ? 'waitsClosed' THEN
    UPDATE stepwell.event_waits w SET open = false
    WHERE w.id = ANY (ARRAY(SELECT jsonb_array_elements_text(p_outside -> 'waitsClosed')::uuid))
      AND (w.instance_id = p_instance AND w.tenant_id = p_tenant AND w.open) IS TRUE;
  END IF;
  IF p_outside ? 'waits' THEN
    PERFORM stepwell.register_waits(p_tenant, p_instance, p_outside -> 'waits', p_now);
  END IF;
  IF p_outside ? 'takes' THEN
    PERFORM stepwell.take_events(p_tenant, p_instance, p_outside -> 'takes', p_now);
  END IF;
  RETURN (SELECT i.wake_seq FROM stepwell.task_instances i WHERE i.id = p_instance);
END $$;

-- By target, as the rows were locked; several to one target in their order.
CREATE FUNCTION stepwell.write_signals(
  p_tenant text, p_instance uuid, p_ends boolean, p_signals jsonb, p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_state text;
BEGIN
  FOR r IN
    SELECT (s.v ->> 'instanceId')::uuid AS target, (s.v ->> 'signalId')::uuid AS id, s.v ->> 'signalType' AS type,
      s.v -> 'payload' AS payload
    FROM jsonb_array_elements(p_signals) WITH ORDINALITY AS s(v, position)
    ORDER BY 1, s.position
  LOOP
    SELECT i.state INTO v_state FROM stepwell.task_instances i
    WHERE i.id = r.target AND (i.tenant_id = p_tenant) IS TRUE;
    CONTINUE WHEN v_state IS NOT NULL AND EXISTS (
      SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = r.target AND s.id = r.id);
    IF v_state IS NULL OR stepwell.is_terminal(v_state) OR (p_ends AND r.target = p_instance) THEN
      RAISE EXCEPTION 'the target of a signal is not there or has ended' USING ERRCODE = 'SW006';
    END IF;
    PERFORM stepwell.accept_fact(p_tenant, r.target, r.id, 'signal', r.type, r.payload, p_now);
  END LOOP;
END $$;

-- Instances that hang on nobody ([EMIT-1]). The key is taken first: a twin waits here and then is refused.
CREATE FUNCTION stepwell.write_emits(p_tenant text, p_emits jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
BEGIN
  FOR r IN
    SELECT e.v, (e.v ->> 'instanceId')::uuid AS id, (e.v ->> 'sequenceId')::uuid AS sequence_id, e.v -> 'dedupe' AS dedupe
    FROM jsonb_array_elements(p_emits) WITH ORDINALITY AS e(v, position)
    ORDER BY e.v -> 'dedupe' ->> 'scope', e.v -> 'dedupe' ->> 'key', e.position
  LOOP
    IF jsonb_typeof(r.dedupe) = 'object' THEN
      INSERT INTO stepwell.emit_records AS d (tenant_id, scope, dedupe_key, instance_id, sequence_name, expires_at)
      VALUES (p_tenant, r.dedupe ->> 'scope', r.dedupe ->> 'key', r.id, r.v ->> 'sequenceName', p_now + interval '30 days')
      ON CONFLICT ON CONSTRAINT emit_records_pkey
      DO UPDATE SET instance_id = excluded.instance_id, sequence_name = excluded.sequence_name,
        expires_at = excluded.expires_at
      WHERE d.expires_at <= p_now;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the key of an emit is used already' USING ERRCODE = 'SW006';
      END IF;
    END IF;
    PERFORM 1 FROM stepwell.sequences s WHERE s.id = r.sequence_id AND s.tenant_id = p_tenant FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the sequence of an emit is not there any more' USING ERRCODE = 'SW006';
    END IF;
    INSERT INTO stepwell.task_instances (id, sequence_id, run_id, tenant_id, namespace, priority, timezone, metadata, data,
      state, next_fire_at, due_at, created_at, updated_at, progress_at)
    VALUES (r.id, r.sequence_id, (r.v ->> 'runId')::uuid, p_tenant, r.v ->> 'namespace', 1, 'UTC', r.v -> 'metadata',
      r.v -> 'data', 'scheduled', p_now, p_now, p_now, p_now, p_now);
    INSERT INTO stepwell.start_inputs (instance_id, tenant_id, input) VALUES (r.id, p_tenant, r.v -> 'data');
  END LOOP;
END $$;

-- A wait takes what is pending already, oldest first; satisfied, it is a fact of its instance at once ([WAIT-2], [WAIT-4]).
CREATE FUNCTION stepwell.register_waits(p_tenant text, p_instance uuid, p_waits jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  e record;
  w stepwell.event_waits;
BEGIN
  FOR r IN SELECT x.v FROM jsonb_array_elements(p_waits) AS x(v) LOOP
    INSERT INTO stepwell.event_waits (id, tenant_id, instance_id, block_id, iteration, event_names, correlation_key,
      join_kind, needed, created_at)
    VALUES ((r.v ->> 'id')::uuid, p_tenant, p_instance, r.v ->> 'blockId', r.v ->> 'iteration',
      ARRAY(SELECT jsonb_array_elements_text(r.v -> 'names')), r.v ->> 'correlationKey', r.v ->> 'join',
      (r.v ->> 'needed')::integer, p_now)
    RETURNING * INTO w;
    FOR e IN
      SELECT p.id, p.event_name FROM stepwell.events p
      WHERE p.correlation_key = w.correlation_key AND (p.tenant_id = p_tenant) IS TRUE AND p.status = 'pending'
        AND p.event_name = ANY (w.event_names)
      ORDER BY p.ordinal
    LOOP
      CONTINUE WHEN w.join_kind = 'all' AND e.event_name = ANY (w.matched_names);
      w := stepwell.match_event(w, e.id, e.event_name, p_now);
      EXIT WHEN NOT w.open;
    END LOOP;
  END LOOP;
END $$;

-- The event is this wait's. The last one that it needs opens its gate: a fact of the instance ([WAIT-4], RULINGS A4).
CREATE FUNCTION stepwell.match_event(
  w stepwell.event_waits, p_event uuid, p_name text, p_now timestamptz
) RETURNS stepwell.event_waits
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.events e
  SET status = 'consumed', consumed_by = w.id, match_no = cardinality(w.matched_names)
  WHERE e.id = p_event;
  UPDATE stepwell.event_waits t
  SET matched_names = t.matched_names || p_name, open = cardinality(t.matched_names) + 1 < t.needed
  WHERE t.id = w.id
  RETURNING * INTO w;
  IF NOT w.open THEN
    PERFORM stepwell.accept_fact(w.tenant_id, w.instance_id, stepwell.uuid_v7(p_now), 'event', NULL,
      jsonb_build_object('waitId', w.id, 'blockId', w.block_id), p_now);
  END IF;
  RETURN w;
END $$;

-- A step without a gate takes the events that it has seen, if they are there still ([WAIT-7]).
CREATE FUNCTION stepwell.take_events(p_tenant text, p_instance uuid, p_takes jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_ids uuid[];
  v_names text[];
BEGIN
  FOR r IN SELECT x.v FROM jsonb_array_elements(p_takes) AS x(v) LOOP
    v_ids := ARRAY(SELECT jsonb_array_elements_text(r.v -> 'eventIds')::uuid);
    v_names := ARRAY(
      SELECT e.event_name FROM unnest(v_ids) WITH ORDINALITY AS t(id, position)
      JOIN stepwell.events e ON e.id = ANY (ARRAY[t.id]) AND (e.tenant_id = p_tenant AND e.status = 'pending') IS TRUE
      ORDER BY t.position);
    IF cardinality(v_names) < cardinality(v_ids) THEN
      RAISE EXCEPTION 'an event was consumed by another wait' USING ERRCODE = 'SW006';
    END IF;
    INSERT INTO stepwell.event_waits (id, tenant_id, instance_id, block_id, iteration, event_names, correlation_key,
      join_kind, needed, matched_names, open, created_at)
    VALUES ((r.v ->> 'id')::uuid, p_tenant, p_instance, r.v ->> 'blockId', r.v ->> 'iteration',
      ARRAY(SELECT jsonb_array_elements_text(r.v -> 'names')), r.v ->> 'correlationKey', r.v ->> 'join',
      (r.v ->> 'needed')::integer, v_names, false, p_now);
    UPDATE stepwell.events e
    SET status = 'consumed', consumed_by = (r.v ->> 'id')::uuid, match_no = t.position - 1
    FROM unnest(v_ids) WITH ORDINALITY AS t(id, position)
    WHERE e.id = ANY (ARRAY[t.id]);
  END LOOP;
END $$;

-- An event from outside (22.3): stored once, and given to the oldest wait that wants it. The wait is read before its
-- instance is locked and once more after it: when it has ended meanwhile, everything is undone and done again.
CREATE FUNCTION stepwell.accept_event_v1(
  p_tenant text, p_id uuid, p_name text, p_producer text, p_key text, p_payload jsonb
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
  v_first uuid;
  v_wait uuid;
  v_instance uuid;
  v_state text;
  w stepwell.event_waits;
BEGIN
  PERFORM pg_advisory_xact_lock(stepwell.event_lock(p_tenant, p_key));
  v_now := stepwell.sw_now();
  INSERT INTO stepwell.events (id, tenant_id, event_name, producer_event_id, correlation_key, payload, received_at)
  VALUES (p_id, p_tenant, p_name, p_producer, p_key, p_payload, v_now)
  ON CONFLICT ON CONSTRAINT events_identity_key DO NOTHING;
  IF NOT FOUND THEN
    -- In a statement of its own: the insert may have waited for the twin, which it could not see.
    SELECT e.id INTO STRICT v_first FROM stepwell.events e
    WHERE e.producer_event_id = p_producer AND e.event_name = p_name AND (e.tenant_id = p_tenant) IS TRUE;
    RETURN json_build_object('eventId', v_first, 'duplicate', true);
  END IF;
  SELECT t.id, t.instance_id INTO v_wait, v_instance
  FROM stepwell.event_waits t
  WHERE t.correlation_key = p_key AND (t.tenant_id = p_tenant) IS TRUE AND t.open AND p_name = ANY (t.event_names)
    AND NOT (t.join_kind = 'all' AND p_name = ANY (t.matched_names))
  ORDER BY t.ordinal LIMIT 1;
  IF v_wait IS NULL THEN
    RETURN json_build_object('eventId', p_id, 'duplicate', false);
  END IF;
  SELECT i.state INTO v_state FROM stepwell.task_instances i
  WHERE i.id = v_instance AND (i.tenant_id = p_tenant) IS TRUE
  FOR NO KEY UPDATE;
  SELECT * INTO w FROM stepwell.event_waits t WHERE t.id = v_wait AND (t.tenant_id = p_tenant) IS TRUE;
  IF v_state IS NULL OR stepwell.is_terminal(v_state) OR NOT w.open THEN
    RAISE EXCEPTION 'a wait ended while an event came' USING ERRCODE = 'serialization_failure';
  END IF;
  v_now := stepwell.sw_now();
  w := stepwell.match_event(w, p_id, p_name, v_now);
  RETURN json_build_object('eventId', p_id, 'duplicate', false, 'waitId', w.id, 'instanceId', w.instance_id,
    'satisfied', NOT w.open);
END $$;

-- The last wait of a node and pass, with what it has matched; null when there is none.
CREATE FUNCTION stepwell.event_wait_v1(p_tenant text, p_instance uuid, p_block text, p_iteration text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT json_build_object('id', w.id, 'names', to_json(w.event_names), 'correlationKey', w.correlation_key,
      'satisfied', cardinality(w.matched_names) >= w.needed,
      'events', (
        SELECT coalesce(json_agg(json_build_object('eventName', e.event_name, 'producerEventId', e.producer_event_id,
          'payload', e.payload) ORDER BY e.match_no), '[]')
        FROM stepwell.events e WHERE e.consumed_by = w.id AND (e.tenant_id = p_tenant) IS TRUE))
    FROM stepwell.event_waits w
    WHERE w.instance_id = p_instance AND (w.tenant_id = p_tenant) IS TRUE AND w.block_id = p_block COLLATE "C"
      AND w.iteration = p_iteration COLLATE "C"
    ORDER BY w.ordinal DESC LIMIT 1);
END $$;

-- Events nobody has consumed, oldest first.
CREATE FUNCTION stepwell.pending_events_v1(p_tenant text, p_key text, p_names jsonb, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object('id', p.id, 'eventName', p.event_name, 'producerEventId',
      p.producer_event_id, 'payload', p.payload) ORDER BY p.ordinal), '[]')
    FROM (
      SELECT e.* FROM stepwell.events e
      WHERE e.correlation_key = p_key COLLATE "C" AND (e.tenant_id = p_tenant) IS TRUE AND e.status = 'pending'
        AND e.event_name = ANY (ARRAY(SELECT jsonb_array_elements_text(p_names)))
      ORDER BY e.ordinal LIMIT p_limit
    ) p);
END $$;

CREATE FUNCTION stepwell.emit_record_v1(p_tenant text, p_scope text, p_key text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT json_build_object('instanceId', d.instance_id, 'sequenceName', d.sequence_name)
    FROM stepwell.emit_records d
    WHERE d.tenant_id = p_tenant AND d.scope = p_scope COLLATE "C" AND d.dedupe_key = p_key COLLATE "C"
      AND d.expires_at > stepwell.sw_now());
END $$;

CREATE FUNCTION stepwell.remove_emit_records(p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count integer;
BEGIN
  DELETE FROM stepwell.emit_records d WHERE (d.tenant_id, d.scope, d.dedupe_key) IN (
    SELECT e.tenant_id, e.scope, e.dedupe_key FROM stepwell.emit_records e WHERE e.expires_at <= p_now
    ORDER BY e.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Artifacts of an instance (handlers.md 9). They go with it.
CREATE TABLE stepwell.blobs (
  instance_id uuid NOT NULL,
  artifact_id text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  content_type text NOT NULL,
  size integer NOT NULL,
  sha256 text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT blobs_pkey PRIMARY KEY (instance_id, artifact_id)
);
-- Bytes that are compressed already are the rule.
ALTER TABLE stepwell.blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- A repeated attempt writes the same artifact again.
CREATE FUNCTION stepwell.put_blob_v1(
  p_tenant text, p_instance uuid, p_artifact text, p_type text, p_size integer, p_sha256 text, p_base64 text
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO stepwell.blobs AS b (instance_id, artifact_id, tenant_id, content_type, size, sha256, bytes, created_at)
  VALUES (p_instance, p_artifact, p_tenant, p_type, p_size, p_sha256, decode(p_base64, 'base64'), stepwell.sw_now())
  ON CONFLICT ON CONSTRAINT blobs_pkey
  DO UPDATE SET content_type = excluded.content_type, size = excluded.size, sha256 = excluded.sha256, bytes = excluded.bytes
  WHERE b.tenant_id = p_tenant;
END $$;

CREATE FUNCTION stepwell.get_blob_v1(p_tenant text, p_instance uuid, p_artifact text, p_max integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT json_build_object('contentType', b.content_type, 'size', b.size, 'sha256', b.sha256,
      'base64', CASE WHEN b.size <= p_max THEN translate(encode(b.bytes, 'base64'), E'\n', '') END)
    FROM stepwell.blobs b
    WHERE b.instance_id = p_instance AND b.artifact_id = p_artifact COLLATE "C" AND (b.tenant_id = p_tenant) IS TRUE);
END $$;

-- Secrets for steps (8.8). What is secret is sealed before it comes here; the key is not in the database.
CREATE TABLE stepwell.credentials (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  sealed_value text NOT NULL,
  sealed_refresh_token text,
  refresh_url text,
  expires_at timestamptz,
  description text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT credentials_kind_check CHECK (kind IN ('api_key', 'oauth2', 'basic'))
);

CALL stepwell.protect_new();

GRANT INSERT, UPDATE, DELETE ON stepwell.credentials TO stepwell_app;
