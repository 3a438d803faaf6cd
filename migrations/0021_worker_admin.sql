-- What administrators say about workers (http-api.md 19.5), where tasks go (20), the processes of the cluster (25) and the
-- plans of tenants (26).

-- Commands for workers, whichever tenant they work for; a worker takes one away when it has followed it.
CREATE TABLE stepwell.worker_commands (
  id uuid NOT NULL,
  worker_id text COLLATE "C" NOT NULL,
  command text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT worker_commands_pkey PRIMARY KEY (id),
  CONSTRAINT worker_commands_command_check CHECK (command IN ('drain', 'reload', 'ping', 'place'))
);
CREATE INDEX worker_commands_worker_idx ON stepwell.worker_commands (worker_id, created_at, id);

-- The least version of a worker that is given tasks of a handler.
CREATE TABLE stepwell.version_pins (
  tenant_id text COLLATE "C" NOT NULL,
  handler_name text COLLATE "C" NOT NULL,
  min_version text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT version_pins_pkey PRIMARY KEY (tenant_id, handler_name)
);
CREATE INDEX version_pins_handler_idx ON stepwell.version_pins (handler_name);

CREATE TABLE stepwell.routing_rules (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  handler_name text COLLATE "C" NOT NULL,
  match_queue text COLLATE "C",
  queue_override text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  enabled boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT routing_rules_pkey PRIMARY KEY (id)
);
CREATE INDEX routing_rules_handler_idx ON stepwell.routing_rules
  (tenant_id, handler_name, priority DESC, created_at, id) WHERE enabled;
CREATE INDEX routing_rules_order_idx ON stepwell.routing_rules (priority DESC, created_at, id);
CREATE INDEX routing_rules_listing_idx ON stepwell.routing_rules (tenant_id, priority DESC, created_at, id);

-- The processes that live on, by the sign of life that they give. A stopped one is known for a day.
CREATE TABLE stepwell.cluster_nodes (
  id uuid NOT NULL,
  name text NOT NULL,
  registered_at timestamptz NOT NULL,
  last_heartbeat_at timestamptz NOT NULL,
  drain_started_at timestamptz,
  stopped_at timestamptz,
  CONSTRAINT cluster_nodes_pkey PRIMARY KEY (id)
) WITH (fillfactor = 50);

CREATE FUNCTION stepwell.command_json(c stepwell.worker_commands) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('id', c.id, 'workerId', c.worker_id, 'command', c.command, 'payload', c.payload,
  'createdAt', stepwell.to_ms(c.created_at));

CREATE FUNCTION stepwell.insert_command_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  c stepwell.worker_commands;
BEGIN
  INSERT INTO stepwell.worker_commands (id, worker_id, command, payload, created_at)
  VALUES ((p ->> 'id')::uuid, p ->> 'workerId', p ->> 'command', p -> 'payload', stepwell.sw_now())
  RETURNING * INTO c;
  RETURN stepwell.command_json(c);
END $$;

-- True for a worker that a caller of this tenant may speak for: one that has polled for it.
CREATE FUNCTION stepwell.is_worker_of(p_tenant text, p_worker text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN p_tenant IS NULL OR EXISTS (
    SELECT 1 FROM stepwell.worker_registry g WHERE g.tenant_id = p_tenant AND g.worker_id = p_worker);
END $$;

CREATE FUNCTION stepwell.list_commands_v1(p_tenant text, p_worker text, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF NOT stepwell.is_worker_of(p_tenant, p_worker) THEN
    RETURN '[]'::json;
  END IF;
  RETURN (
    SELECT coalesce(json_agg(stepwell.command_json(c) ORDER BY c.created_at, c.id), '[]') FROM (
      SELECT w.id FROM stepwell.worker_commands w WHERE w.worker_id = p_worker
      ORDER BY w.created_at, w.id LIMIT p_limit
    ) l
    JOIN stepwell.worker_commands c ON c.id = l.id);
END $$;

CREATE FUNCTION stepwell.delete_command_v1(p_tenant text, p_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  DELETE FROM stepwell.worker_commands c WHERE c.id = p_id AND stepwell.is_worker_of(p_tenant, c.worker_id);
  RETURN FOUND;
END $$;

CREATE FUNCTION stepwell.pin_json(p stepwell.version_pins) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('tenantId', p.tenant_id, 'handlerName', p.handler_name, 'minVersion', p.min_version,
  'createdAt', stepwell.to_ms(p.created_at), 'updatedAt', stepwell.to_ms(p.updated_at));

CREATE FUNCTION stepwell.put_pin_v1(p_tenant text, p_handler text, p_min_version text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_pin stepwell.version_pins;
BEGIN
  INSERT INTO stepwell.version_pins AS p (tenant_id, handler_name, min_version, created_at, updated_at)
  VALUES (p_tenant, p_handler, p_min_version, v_now, v_now)
  ON CONFLICT ON CONSTRAINT version_pins_pkey
  DO UPDATE SET min_version = excluded.min_version, updated_at = excluded.updated_at
  RETURNING p.* INTO v_pin;
  RETURN stepwell.pin_json(v_pin);
END $$;

CREATE FUNCTION stepwell.list_pins_v1(p_tenant text, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
BEGIN
  IF p_tenant IS NULL THEN
    RETURN (
      SELECT coalesce(json_agg(stepwell.pin_json(l.pin) ORDER BY l.tenant_id, l.handler_name), '[]') FROM (
        SELECT v.tenant_id, v.handler_name, v AS pin FROM stepwell.version_pins v
        ORDER BY v.tenant_id, v.handler_name LIMIT p_limit) l);
  END IF;
  RETURN (
    SELECT coalesce(json_agg(stepwell.pin_json(l.pin) ORDER BY l.handler_name), '[]') FROM (
      SELECT v.handler_name, v AS pin FROM stepwell.version_pins v WHERE v.tenant_id = p_tenant
      ORDER BY v.tenant_id, v.handler_name LIMIT p_limit) l);
END $$;

CREATE FUNCTION stepwell.delete_pin_v1(p_tenant text, p_handler text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  DELETE FROM stepwell.version_pins p WHERE p.tenant_id = p_tenant AND p.handler_name = p_handler;
  RETURN FOUND;
END $$;

-- A version as numbers, part by part: what is no number counts as 0, and so do parts that are not there.
CREATE FUNCTION stepwell.version_numbers(p_version text) RETURNS numeric[]
LANGUAGE sql IMMUTABLE
RETURN ARRAY(
  SELECT coalesce(substring(split_part(ltrim(p_version, 'vV'), '.', n) FROM '^[0-9]{1,30}'), '0')::numeric
  FROM generate_series(1, 8) AS parts(n));

-- The tenants whose pin a worker of this version does not satisfy; one without a version satisfies none.
CREATE FUNCTION stepwell.tenants_that_refuse(p_tenant text, p_handler text, p_version text) RETURNS text[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN ARRAY(
    SELECT p.tenant_id FROM stepwell.version_pins p
    WHERE p.handler_name = p_handler AND (p_tenant IS NULL OR p.tenant_id = p_tenant)
      AND (p_version IS NULL OR stepwell.version_numbers(p_version) < stepwell.version_numbers(p.min_version)));
END $$;

CREATE FUNCTION stepwell.rule_json(r stepwell.routing_rules) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('id', r.id, 'tenantId', r.tenant_id, 'handlerName', r.handler_name, 'matchQueue', r.match_queue,
  'queueOverride', r.queue_override, 'priority', r.priority, 'enabled', r.enabled,
  'createdAt', stepwell.to_ms(r.created_at), 'updatedAt', stepwell.to_ms(r.updated_at));

CREATE FUNCTION stepwell.insert_rule_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  r stepwell.routing_rules;
BEGIN
  INSERT INTO stepwell.routing_rules (id, tenant_id, handler_name, match_queue, queue_override, priority, enabled,
    created_at, updated_at)
  VALUES ((p ->> 'id')::uuid, p ->> 'tenantId', p ->> 'handlerName', p ->> 'matchQueue', p ->> 'queueOverride',
    (p ->> 'priority')::integer, (p -> 'enabled')::boolean, v_now, v_now)
  RETURNING * INTO r;
  RETURN stepwell.rule_json(r);
END $$;

CREATE FUNCTION stepwell.list_rules_v1(p_tenant text, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_ids uuid[];
BEGIN
  -- Two statements: one for both cases would read all rules.
  IF p_tenant IS NULL THEN
    SELECT array_agg(l.id) INTO v_ids FROM (
      SELECT u.id FROM stepwell.routing_rules u ORDER BY u.priority DESC, u.created_at, u.id LIMIT p_limit) l;
  ELSE
    SELECT array_agg(l.id) INTO v_ids FROM (
      SELECT u.id FROM stepwell.routing_rules u WHERE u.tenant_id = p_tenant
      ORDER BY u.priority DESC, u.created_at, u.id LIMIT p_limit) l;
  END IF;
  RETURN (
    SELECT coalesce(json_agg(stepwell.rule_json(r) ORDER BY r.priority DESC, r.created_at, r.id), '[]')
    FROM stepwell.routing_rules r WHERE r.id = ANY (v_ids));
END $$;

CREATE FUNCTION stepwell.get_rule_v1(p_tenant text, p_id uuid) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  RETURN (SELECT stepwell.rule_json(r) FROM stepwell.routing_rules r
    WHERE r.id = p_id AND (p_tenant IS NULL OR r.tenant_id = p_tenant));
END $$;

CREATE FUNCTION stepwell.delete_rule_v1(p_tenant text, p_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  DELETE FROM stepwell.routing_rules r WHERE r.id = p_id AND (p_tenant IS NULL OR r.tenant_id = p_tenant);
  RETURN FOUND;
END $$;

-- The queue of a new task: that of the first rule of its handler that fits, else the one that the step names.
CREATE FUNCTION stepwell.routed_queue(p_tenant text, p_handler text, p_queue text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN coalesce((
    SELECT r.queue_override FROM stepwell.routing_rules r
    WHERE r.enabled AND r.tenant_id = p_tenant AND r.handler_name = p_handler
      AND (r.match_queue IS NULL OR r.match_queue = p_queue)
    ORDER BY r.priority DESC, r.created_at, r.id LIMIT 1), p_queue);
END $$;

CREATE FUNCTION stepwell.node_json(n stepwell.cluster_nodes) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('id', n.id, 'name', n.name,
  'status', CASE WHEN n.stopped_at IS NOT NULL THEN 'stopped' WHEN n.drain_started_at IS NOT NULL THEN 'draining' ELSE 'active' END,
  'registeredAt', stepwell.to_ms(n.registered_at), 'lastHeartbeatAt', stepwell.to_ms(n.last_heartbeat_at),
  'drainStartedAt', stepwell.to_ms(n.drain_started_at), 'stoppedAt', stepwell.to_ms(n.stopped_at));

-- A sign of life; answers whether the node is to drain. With p_silent_ms it also marks the nodes that have been silent for
-- so long as stopped, and forgets those that were stopped more than a day ago.
CREATE FUNCTION stepwell.heartbeat_node_v1(p_id uuid, p_name text, p_silent_ms bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_drains boolean;
BEGIN
  INSERT INTO stepwell.cluster_nodes AS n (id, name, registered_at, last_heartbeat_at)
  VALUES (p_id, p_name, v_now, v_now)
  ON CONFLICT ON CONSTRAINT cluster_nodes_pkey
  DO UPDATE SET name = excluded.name, last_heartbeat_at = v_now, stopped_at = NULL
  RETURNING n.drain_started_at IS NOT NULL INTO v_drains;
  IF p_silent_ms IS NOT NULL THEN
    -- What another node is touching is left to it.
    UPDATE stepwell.cluster_nodes n SET stopped_at = v_now WHERE n.id IN (
      SELECT s.id FROM stepwell.cluster_nodes s
      WHERE s.stopped_at IS NULL AND s.last_heartbeat_at <= v_now - p_silent_ms * interval '1 millisecond'
      FOR UPDATE SKIP LOCKED);
    DELETE FROM stepwell.cluster_nodes n WHERE n.id IN (
      SELECT s.id FROM stepwell.cluster_nodes s WHERE s.stopped_at <= v_now - interval '1 day' FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN v_drains;
END $$;

CREATE FUNCTION stepwell.drain_node_v1(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  UPDATE stepwell.cluster_nodes n SET drain_started_at = stepwell.sw_now()
  WHERE n.id = p_id AND n.drain_started_at IS NULL;
END $$;

CREATE FUNCTION stepwell.stop_node_v1(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  UPDATE stepwell.cluster_nodes n SET stopped_at = stepwell.sw_now() WHERE n.id = p_id AND n.stopped_at IS NULL;
END $$;

-- Those that work first, each in the order of registration.
CREATE FUNCTION stepwell.list_nodes_v1(p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(stepwell.node_json(n) ORDER BY n.stopped_at IS NOT NULL, n.registered_at, n.id), '[]')
    FROM (
      SELECT c.id FROM stepwell.cluster_nodes c ORDER BY c.stopped_at IS NOT NULL, c.registered_at, c.id LIMIT p_limit
    ) l
    JOIN stepwell.cluster_nodes n ON n.id = l.id);
END $$;

-- Starts of a tenant whose plan bounds its active instances or its starts come one after the other; held until the start is
-- stored.
CREATE FUNCTION stepwell.hold_plans(p_limits jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_tenant text;
BEGIN
  FOR v_tenant IN
    SELECT l.v ->> 'tenantId' FROM jsonb_array_elements(p_limits) AS l(v) ORDER BY (l.v ->> 'tenantId') COLLATE "C"
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('stepwell plan of ' || v_tenant, 0));
  END LOOP;
END $$;

-- After the instances of a start are there, with the tenant whose plan does not allow so many: SW010 active ones, SW013
-- started ones within a second. Runs of children are not counted by the second.
CREATE FUNCTION stepwell.check_plans(p_limits jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_active bigint;
  v_started bigint;
  v_since timestamptz := stepwell.sw_now() - interval '1 second';
BEGIN
  FOR r IN SELECT l.v ->> 'tenantId' AS tenant, (l.v ->> 'maxActive')::bigint AS max_active,
      (l.v ->> 'startsPerSec')::bigint AS starts_per_sec
    FROM jsonb_array_elements(p_limits) AS l(v)
  LOOP
    IF r.max_active IS NOT NULL THEN
      SELECT count(*) INTO v_active FROM (
        -- Roots and children are in indexes of their own.
        (SELECT 1 FROM stepwell.task_instances i
          WHERE i.tenant_id = r.tenant AND i.state IN ('scheduled', 'running', 'waiting', 'paused')
            AND i.parent_instance_id IS NULL
          LIMIT r.max_active + 1)
        UNION ALL
        (SELECT 1 FROM stepwell.task_instances i
          WHERE i.tenant_id = r.tenant AND i.state IN ('scheduled', 'running', 'waiting', 'paused')
            AND i.parent_instance_id IS NOT NULL
          LIMIT r.max_active + 1)
      ) c;
      IF v_active > r.max_active THEN
        RAISE EXCEPTION '%', r.tenant USING ERRCODE = 'SW010';
      END IF;
    END IF;
    IF r.starts_per_sec IS NOT NULL THEN
      SELECT count(*) INTO v_started FROM (
        SELECT 1 FROM stepwell.task_instances i
        WHERE i.tenant_id = r.tenant AND i.parent_instance_id IS NULL
          AND i.state IN ('scheduled', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled')
          AND i.created_at > v_since
        LIMIT r.starts_per_sec + 1
      ) c;
      IF v_started > r.starts_per_sec THEN
        RAISE EXCEPTION '%', r.tenant USING ERRCODE = 'SW013';
      END IF;
    END IF;
  END LOOP;
END $$;

CALL stepwell.protect_new();
