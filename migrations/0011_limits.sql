-- Throughput and protection: rate limits (13.3), resource pools (13.4), circuit breakers (13.8). Attempts take from them in
-- the commit that carries their intent (RULINGS A32), and tell breakers in the commit of their result. Lock order: after
-- the instances come breakers, rate keys, pools, each by key.

CREATE TABLE stepwell.rate_limits (
  tenant_id text COLLATE "C" NOT NULL,
  resource_key text COLLATE "C" NOT NULL,
  max_count integer NOT NULL,
  window_ms bigint NOT NULL,
  -- Grants in rate_grants, some of which may have left the window.
  current_count integer NOT NULL DEFAULT 0,
  -- The newest grant: its instant, so that a clock that is set back opens no gap, and its number.
  last_at timestamptz,
  last_n bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (tenant_id, resource_key),
  CONSTRAINT rate_limits_max_count_check CHECK (max_count >= 0),
  CONSTRAINT rate_limits_window_check CHECK (window_ms > 0)
) WITH (fillfactor = 50);

-- The sliding log. Up to 1,000 grants a window each has its row; above that a row counts those of one of 100 sub-windows
-- and stands at the end of it, which is against the caller.
CREATE TABLE stepwell.rate_grants (
  tenant_id text COLLATE "C" NOT NULL,
  resource_key text COLLATE "C" NOT NULL,
  granted_at timestamptz NOT NULL,
  n bigint NOT NULL,
  grants integer NOT NULL,
  CONSTRAINT rate_grants_pkey PRIMARY KEY (tenant_id, resource_key, granted_at, n)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE stepwell.circuit_breakers (
  tenant_id text COLLATE "C" NOT NULL,
  handler text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'closed',
  -- Consecutive failures. 0 in a breaker that has recovered; an open one has some.
  failure_count integer NOT NULL DEFAULT 0,
  failure_threshold integer NOT NULL,
  cooldown_ms bigint NOT NULL,
  opened_at timestamptz,
  -- Half open: whose attempt is the probe, and how long nobody else may be it.
  probe_instance_id uuid,
  probe_until timestamptz,
  last_error text,
  updated_at timestamptz NOT NULL,
  CONSTRAINT circuit_breakers_pkey PRIMARY KEY (tenant_id, handler),
  CONSTRAINT circuit_breakers_state_check CHECK (
    CASE state WHEN 'closed' THEN opened_at IS NULL
      WHEN 'open' THEN opened_at IS NOT NULL AND failure_count > 0
      WHEN 'half_open' THEN opened_at IS NOT NULL AND probe_until IS NOT NULL AND failure_count > 0
      ELSE false END
  )
) WITH (fillfactor = 50);

-- What claims and commits ask: is there any trouble for this tenant? Nearly always the answer is one empty index page.
CREATE INDEX circuit_breakers_trouble_idx ON stepwell.circuit_breakers (tenant_id, handler) WHERE failure_count > 0;

CREATE TABLE stepwell.resource_pools (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  strategy text NOT NULL,
  round_robin_index integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT resource_pools_pkey PRIMARY KEY (id),
  CONSTRAINT resource_pools_strategy_check CHECK (strategy IN ('round_robin', 'weighted', 'random'))
);

CREATE INDEX resource_pools_name_idx ON stepwell.resource_pools (tenant_id, name, created_at, id);

CREATE TABLE stepwell.pool_resources (
  id uuid NOT NULL,
  pool_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  weight integer NOT NULL,
  daily_cap integer NOT NULL,
  daily_usage integer NOT NULL DEFAULT 0,
  daily_usage_date date,
  warmup_start date,
  warmup_days integer NOT NULL,
  warmup_start_cap integer NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  tenant_id text COLLATE "C" NOT NULL,
  resource_key text COLLATE "C" NOT NULL,
  name text NOT NULL,
  CONSTRAINT pool_resources_pkey PRIMARY KEY (id),
  CONSTRAINT pool_resources_numbers_check CHECK (
    weight >= 0 AND daily_cap >= 0 AND warmup_days >= 0 AND warmup_start_cap >= 0)
) WITH (fillfactor = 80);

CREATE INDEX pool_resources_pool_idx ON stepwell.pool_resources (pool_id, created_at, id);

-- The first whole millisecond at which an instant has come: a caller that is told less would ask too early.
CREATE FUNCTION stepwell.to_ms_after(p_at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN ceil(extract(epoch FROM p_at) * 1000)::bigint;

-- ── Rate limits ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- When a token may be free again; null when one is now, or when nobody limits this key. Who calls this holds the lock of
-- the key, and p_now was read after it. Grants that have left the window are forgotten.
CREATE FUNCTION stepwell.rate_wait(p_tenant text, p_key text, p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l stepwell.rate_limits;
  v_at timestamptz;
  v_window interval;
  v_gone bigint;
BEGIN
  SELECT * INTO l FROM stepwell.rate_limits k WHERE k.tenant_id = p_tenant AND k.resource_key = p_key;
  IF l.tenant_id IS NULL THEN
    RETURN NULL;
  END IF;
  v_at := greatest(p_now, l.last_at);
  v_window := l.window_ms * interval '1 millisecond';
  WITH gone AS (
    DELETE FROM stepwell.rate_grants g
    WHERE g.tenant_id = p_tenant AND g.resource_key = p_key AND g.granted_at <= v_at - v_window
    RETURNING g.grants
  )
  SELECT sum(gone.grants) INTO v_gone FROM gone;
  IF v_gone > 0 THEN
    UPDATE stepwell.rate_limits k SET current_count = k.current_count - v_gone
    WHERE k.tenant_id = p_tenant AND k.resource_key = p_key;
  END IF;
  IF l.current_count - coalesce(v_gone, 0) < l.max_count THEN
    RETURN NULL;
  END IF;
  -- What grants nothing is not asked again and again: who changes it wakes those that wait.
  IF l.max_count = 0 THEN
    RETURN v_at + interval '366 days';
  END IF;
  RETURN coalesce((
    SELECT g.granted_at FROM stepwell.rate_grants g
    WHERE g.tenant_id = p_tenant AND g.resource_key = p_key
    ORDER BY g.granted_at, g.n LIMIT 1), v_at) + v_window;
END $$;

-- Grants one token, if the key is limited at all.
CREATE FUNCTION stepwell.take_rate(p_tenant text, p_key text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l stepwell.rate_limits;
  v_sub_us bigint;
BEGIN
  UPDATE stepwell.rate_limits k
  SET current_count = k.current_count + 1, last_n = k.last_n + 1, last_at = greatest(p_now, k.last_at)
  WHERE k.tenant_id = p_tenant AND k.resource_key = p_key
  RETURNING k.* INTO l;
  IF l.tenant_id IS NULL THEN
    RETURN;
  END IF;
  IF l.max_count <= 1000 THEN
    INSERT INTO stepwell.rate_grants (tenant_id, resource_key, granted_at, n, grants)
    VALUES (p_tenant, p_key, l.last_at, l.last_n, 1);
    RETURN;
  END IF;
  v_sub_us := l.window_ms * 10;
  INSERT INTO stepwell.rate_grants AS g (tenant_id, resource_key, granted_at, n, grants)
  VALUES (p_tenant, p_key, timestamptz 'epoch'
    + ceil(extract(epoch FROM l.last_at) * 1000000 / v_sub_us)::bigint * v_sub_us * interval '1 microsecond', 0, 1)
  ON CONFLICT ON CONSTRAINT rate_grants_pkey DO UPDATE SET grants = g.grants + 1;
END $$;

-- ── Circuit breakers ─────────────────────────────────────────────────────────────────────────────────────────────────

-- Until when a breaker lets nobody through; null when it does now. While a probe is out its end is looked for every 5 s.
CREATE FUNCTION stepwell.breaker_wait(b stepwell.circuit_breakers, p_now timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN b.state = 'open' AND b.opened_at + b.cooldown_ms * interval '1 millisecond' > p_now
    THEN b.opened_at + b.cooldown_ms * interval '1 millisecond'
  WHEN b.state = 'half_open' AND b.probe_until > p_now THEN least(b.probe_until, p_now + interval '5 seconds')
END;

-- Lets an attempt through. When the breaker is not closed it is the probe, and no other until then ([CB-6]).
CREATE FUNCTION stepwell.pass_breaker(b stepwell.circuit_breakers, p_instance uuid, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_until timestamptz := p_now + interval '60 seconds';
BEGIN
  IF coalesce(b.state, 'closed') = 'closed' THEN
    RETURN '{}';
  END IF;
  UPDATE stepwell.circuit_breakers k
  SET state = 'half_open', probe_instance_id = p_instance, probe_until = v_until, updated_at = p_now
  WHERE k.tenant_id = b.tenant_id AND k.handler = b.handler;
  RETURN jsonb_build_object('probeUntil', stepwell.to_ms(v_until));
END $$;

-- How one attempt ended ([CB-2]). Who calls this holds the lock of the breaker, if there is one. In a half-open breaker
-- only the probe has a say; in an open one nobody has.
CREATE FUNCTION stepwell.tell_breaker(p_tenant text, p_instance uuid, p_outcome jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  b stepwell.circuit_breakers;
  v_handler text := p_outcome ->> 'handler';
  v_failed boolean := NOT p_outcome ? 'ok';
  v_opens boolean;
BEGIN
  SELECT * INTO b FROM stepwell.circuit_breakers k WHERE k.tenant_id = p_tenant AND k.handler = v_handler;
  IF b.tenant_id IS NULL OR b.state = 'open'
    OR (b.state = 'half_open' AND b.probe_instance_id IS DISTINCT FROM p_instance) THEN
    RETURN;
  END IF;
  IF NOT v_failed THEN
    UPDATE stepwell.circuit_breakers k
    SET state = 'closed', failure_count = 0, opened_at = NULL, probe_instance_id = NULL, probe_until = NULL,
      updated_at = p_now
    WHERE k.tenant_id = p_tenant AND k.handler = v_handler AND k.failure_count > 0;
    RETURN;
  END IF;
  v_opens := b.state = 'half_open' OR b.failure_count + 1 >= (p_outcome ->> 'threshold')::integer;
  UPDATE stepwell.circuit_breakers k
  SET state = CASE WHEN v_opens THEN 'open' ELSE 'closed' END,
    failure_count = k.failure_count + 1,
    failure_threshold = (p_outcome ->> 'threshold')::integer,
    cooldown_ms = (p_outcome ->> 'cooldownMs')::bigint,
    opened_at = CASE WHEN v_opens THEN p_now END,
    probe_instance_id = NULL, probe_until = NULL,
    last_error = p_outcome ->> 'error',
    updated_at = p_now
  WHERE k.tenant_id = p_tenant AND k.handler = v_handler;
END $$;

-- Handlers of a tenant whose breaker is not closed; null for none.
CREATE FUNCTION stepwell.open_breakers(p_tenant text) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT json_agg(b.handler) FROM stepwell.circuit_breakers b
    WHERE b.tenant_id = p_tenant AND b.failure_count > 0 AND b.state <> 'closed');
END $$;

-- Locks a breaker; one that is to hear of a failure is made when there is none.
CREATE FUNCTION stepwell.hold_breaker(p_tenant text, p_handler text, p_failure jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_failure IS NOT NULL THEN
    INSERT INTO stepwell.circuit_breakers (tenant_id, handler, failure_threshold, cooldown_ms, updated_at)
    VALUES (p_tenant, p_handler, (p_failure ->> 'threshold')::integer, (p_failure ->> 'cooldownMs')::bigint, stepwell.sw_now())
    ON CONFLICT DO NOTHING;
  END IF;
  PERFORM 1 FROM stepwell.circuit_breakers k WHERE k.tenant_id = p_tenant AND k.handler = p_handler FOR UPDATE;
END $$;

-- [CB-3]: these have no breaker; the engine knows the same names.
CREATE FUNCTION stepwell.is_tracked(p_handler text) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN p_handler NOT IN ('noop', 'log', 'sleep', 'fail', 'self_modify', 'emit_event', 'send_signal', 'query_instance',
  'human_review', 'transform', 'assert', 'set_state', 'get_state', 'delete_state', 'merge_state', 'wait_for_event', 'blob_put',
  'blob_get');

-- A worker reports a failure: the breaker knows of it before the call returns.
CREATE FUNCTION stepwell.tell_worker_failure(p_tenant text, p_instance uuid, p_handler text, p_failure jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF stepwell.is_tracked(p_handler) THEN
    PERFORM stepwell.hold_breaker(p_tenant, p_handler, p_failure);
    PERFORM stepwell.tell_breaker(p_tenant, p_instance, p_failure || jsonb_build_object('handler', p_handler), stepwell.sw_now());
  END IF;
END $$;

-- ── Resource pools ───────────────────────────────────────────────────────────────────────────────────────────────────

-- What a resource may be given on a day; null for no cap.
CREATE FUNCTION stepwell.resource_cap(r stepwell.pool_resources, p_date date) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN r.daily_cap = 0 THEN NULL
  WHEN r.warmup_start IS NULL OR p_date - r.warmup_start >= r.warmup_days THEN r.daily_cap
  ELSE r.warmup_start_cap + floor(
    (r.daily_cap - r.warmup_start_cap)::numeric * greatest(0, p_date - r.warmup_start) / r.warmup_days)::integer
END;

-- Chooses a resource by the strategy of the pool. `status`: picked, exhausted (all at their cap), empty (none enabled).
CREATE FUNCTION stepwell.pick_resource(
  o stepwell.resource_pools, p_date date, p_dice double precision,
  OUT status text, OUT resource_id uuid, OUT resource_key text, OUT next_index integer
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_total integer;
BEGIN
  SELECT count(*) INTO v_total FROM stepwell.pool_resources r
  WHERE r.pool_id = o.id AND r.enabled AND (o.strategy <> 'weighted' OR r.weight > 0);
  IF v_total = 0 THEN
    status := 'empty';
    RETURN;
  END IF;
  WITH members AS (
    SELECT r.id, r.resource_key, r.weight, r.enabled,
      (row_number() OVER (ORDER BY r.created_at, r.id) - 1)::integer AS place,
      count(*) OVER () AS members,
      CASE WHEN r.daily_usage_date = p_date THEN r.daily_usage ELSE 0 END AS used,
      stepwell.resource_cap(r, p_date) AS cap
    FROM stepwell.pool_resources r WHERE r.pool_id = o.id
  ), open AS (
    SELECT m.*, sum(m.weight) OVER (ORDER BY m.place) AS up_to, sum(m.weight) OVER () AS weights,
      row_number() OVER (ORDER BY m.place) - 1 AS n, count(*) OVER () AS open_count
    FROM members m
    WHERE m.enabled AND (o.strategy <> 'weighted' OR m.weight > 0) AND (m.cap IS NULL OR m.used < m.cap)
  )
  SELECT open.id, open.resource_key, ((open.place + 1) % open.members)::integer
  INTO resource_id, resource_key, next_index
  FROM open
  WHERE CASE o.strategy
    WHEN 'weighted' THEN open.up_to > p_dice * open.weights
    WHEN 'random' THEN open.n = least(open.open_count - 1, floor(p_dice * open.open_count))
    ELSE true END
  ORDER BY CASE WHEN o.strategy = 'round_robin' THEN open.place < o.round_robin_index END, open.place
  LIMIT 1;
  status := CASE WHEN resource_id IS NULL THEN 'exhausted' ELSE 'picked' END;
END $$;

CREATE FUNCTION stepwell.find_pool(p_tenant text, p_name text) RETURNS stepwell.resource_pools
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  o stepwell.resource_pools;
BEGIN
  SELECT * INTO o FROM stepwell.resource_pools k WHERE k.tenant_id = p_tenant AND k.name = p_name
  ORDER BY k.created_at, k.id LIMIT 1;
  RETURN o;
END $$;

-- ── Attempts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE FUNCTION stepwell.denied(p_reason text, p_until timestamptz) RETURNS jsonb
LANGUAGE sql IMMUTABLE
RETURN jsonb_build_object('denied', p_reason, 'until', stepwell.to_ms_after(p_until));

-- All that one attempt asks for, or nothing of it. Everything is looked at before anything is taken, in the order of 8.1.
CREATE FUNCTION stepwell.take_one(p_tenant text, p_instance uuid, p_take jsonb, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_until timestamptz;
  v_fallback_until timestamptz;
  v_handler text;
  b stepwell.circuit_breakers;
  o stepwell.resource_pools;
  c record;
  v_taken jsonb := '{}';
  v_date date := (p_now AT TIME ZONE 'UTC')::date;
BEGIN
  IF p_take ? 'rate' THEN
    v_until := stepwell.rate_wait(p_tenant, p_take ->> 'rate', p_now);
    IF v_until IS NOT NULL THEN
      RETURN stepwell.denied('rate_limit', v_until);
    END IF;
  END IF;
  IF p_take ? 'breaker' THEN
    v_handler := p_take ->> 'breaker';
    SELECT * INTO b FROM stepwell.circuit_breakers k WHERE k.tenant_id = p_tenant AND k.handler = v_handler;
    v_until := stepwell.breaker_wait(b, p_now);
    IF v_until IS NOT NULL AND p_take ? 'fallback' THEN
      v_handler := p_take ->> 'fallback';
      b := NULL;
      IF p_take ? 'fallbackTracked' THEN
        SELECT * INTO b FROM stepwell.circuit_breakers k WHERE k.tenant_id = p_tenant AND k.handler = v_handler;
        v_fallback_until := stepwell.breaker_wait(b, p_now);
      END IF;
      v_until := CASE WHEN v_fallback_until IS NOT NULL THEN greatest(v_until, v_fallback_until) END;
    END IF;
    IF v_until IS NOT NULL THEN
      RETURN stepwell.denied('breaker', v_until);
    END IF;
  END IF;
  IF p_take ? 'pool' THEN
    o := stepwell.find_pool(p_tenant, p_take ->> 'pool');
    IF o.id IS NULL THEN
      RETURN stepwell.denied('pool_unknown', NULL);
    END IF;
    c := stepwell.pick_resource(o, v_date, (p_take ->> 'dice')::double precision);
    IF c.status = 'empty' THEN
      RETURN stepwell.denied('pool_empty', NULL);
    END IF;
    IF c.status = 'exhausted' THEN
      RETURN stepwell.denied('pool', (v_date + 1)::timestamp AT TIME ZONE 'UTC');
    END IF;
  END IF;

  IF p_take ? 'rate' THEN
    PERFORM stepwell.take_rate(p_tenant, p_take ->> 'rate', p_now);
  END IF;
  IF p_take ? 'breaker' THEN
    v_taken := jsonb_build_object('handler', v_handler) || stepwell.pass_breaker(b, p_instance, p_now);
  END IF;
  IF p_take ? 'pool' THEN
    UPDATE stepwell.pool_resources r
    SET daily_usage = CASE WHEN r.daily_usage_date = v_date THEN r.daily_usage ELSE 0 END + 1, daily_usage_date = v_date
    WHERE r.id = c.resource_id;
    UPDATE stepwell.resource_pools k SET round_robin_index = c.next_index
    WHERE k.id = o.id AND k.strategy = 'round_robin';
    v_taken := v_taken || jsonb_build_object('resource', c.resource_key);
  END IF;
  RETURN jsonb_build_object('taken', v_taken);
END $$;

-- Locks in order what the turns of this payload ask for or tell: breakers, rate keys, pools.
CREATE FUNCTION stepwell.hold_limits(p jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM stepwell.hold_breaker(h.tenant_id, h.handler, h.failure)
  FROM (
    SELECT u.tenant_id, u.handler, (array_agg(u.failure) FILTER (WHERE u.failure IS NOT NULL))[1] AS failure
    FROM (
      SELECT t.tenant_id, e.v ->> 'handler' AS handler, CASE WHEN NOT e.v ? 'ok' THEN e.v END AS failure
      FROM jsonb_array_elements(p -> 'more' -> 'outcomes') AS e(v)
      JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer AND t.verdict = 'ok'
      UNION ALL
      SELECT t.tenant_id, e.handler, NULL
      FROM unnest(a) AS t
      CROSS JOIN LATERAL jsonb_array_elements_text(t.body -> 'ok') AS e(handler)
      WHERE t.verdict = 'ok'
      UNION ALL
      SELECT t.tenant_id, n.handler, NULL
      FROM jsonb_array_elements(p -> 'takes') AS e(v)
      JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer AND t.verdict = 'ok'
      CROSS JOIN LATERAL (VALUES (e.v ->> 'breaker'), (e.v ->> 'fallback')) AS n(handler)
      WHERE n.handler IS NOT NULL
    ) u
    GROUP BY u.tenant_id, u.handler
    ORDER BY u.tenant_id COLLATE "C", u.handler COLLATE "C"
  ) h;
  IF p ? 'takes' THEN
    PERFORM 1 FROM (
      SELECT DISTINCT t.tenant_id COLLATE "C" AS tenant_id, (e.v ->> 'rate') COLLATE "C" AS rate
      FROM jsonb_array_elements(p -> 'takes') AS e(v)
      JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer AND t.verdict = 'ok'
      WHERE e.v ? 'rate'
      ORDER BY 1, 2
    ) k
    CROSS JOIN LATERAL (
      SELECT 1 FROM stepwell.rate_limits l WHERE l.tenant_id = k.tenant_id AND l.resource_key = k.rate FOR UPDATE
    ) held;
    PERFORM 1 FROM (
      SELECT DISTINCT t.tenant_id COLLATE "C" AS tenant_id, (e.v ->> 'pool') COLLATE "C" AS pool
      FROM jsonb_array_elements(p -> 'takes') AS e(v)
      JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer AND t.verdict = 'ok'
      WHERE e.v ? 'pool'
      ORDER BY 1, 2
    ) k
    CROSS JOIN LATERAL (
      SELECT 1 FROM stepwell.resource_pools o WHERE o.tenant_id = k.tenant_id AND o.name = k.pool
      ORDER BY o.created_at, o.id LIMIT 1 FOR UPDATE
    ) held;
  END IF;
END $$;

-- A frame of the payload, or a turn with its root frame, after the limits have answered its intent: one that was denied
-- waits for the limit or is gone, one that was granted has what it was given in its leaf.
CREATE FUNCTION stepwell.limited_intent(p_record jsonb, p_take jsonb, p_answer jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_intent text := CASE WHEN p_take ? 'f' THEN 'intent' ELSE 'rootIntent' END;
  v_held jsonb := p_record -> CASE WHEN p_take ? 'f' THEN 'held' ELSE 'rootHeld' END;
  v_taken text[] := ARRAY[v_intent, 'leaf', 'taken'];
BEGIN
  IF p_answer -> 'until' <> 'null' THEN
    RETURN p_record || jsonb_build_object(v_intent, v_held || jsonb_build_object('leaf',
      (v_held -> 'leaf') || jsonb_build_object('state', 'waiting', 'reason', p_answer -> 'denied', 'wakeAt', p_answer -> 'until',
        'limit', p_take -> CASE p_answer ->> 'denied' WHEN 'rate_limit' THEN 'rate' ELSE p_answer ->> 'denied' END)));
  END IF;
  IF p_answer ? 'denied' THEN
    RETURN p_record - v_intent;
  END IF;
  RETURN jsonb_set(p_record, v_taken, coalesce(p_record #> v_taken, '{}') || (p_answer -> 'taken'));
END $$;

-- Limits in a commit: attempts that have ended tell their breakers, attempts that are to begin take what they need. The
-- payload comes back as it is to be stored, with the answers by turn in `taken`. It is taken apart and put together once:
-- a change in its place would copy all of it, for each of what may be a thousand intents.
CREATE FUNCTION stepwell.limit_turns(p jsonb, a stepwell.checked_turn[]) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_now timestamptz;
  v_answer jsonb;
  v_turns jsonb[];
  v_frames jsonb[];
  v_place integer;
  v_asked integer[] := '{}';
  v_answers jsonb[] := '{}';
BEGIN
  PERFORM stepwell.hold_limits(p, a);
  v_now := stepwell.sw_now();
  FOR r IN
    SELECT t.tenant_id, t.instance_id, o.v
    FROM unnest(a) AS t
    CROSS JOIN LATERAL (
      SELECT e.v, e.n FROM jsonb_array_elements(p -> 'more' -> 'outcomes') WITH ORDINALITY AS e(v, n)
      WHERE (e.v ->> 'i')::integer = t.i
      UNION ALL
      SELECT jsonb_build_object('handler', e.handler, 'ok', true), e.n
      FROM jsonb_array_elements_text(t.body -> 'ok') WITH ORDINALITY AS e(handler, n)
    ) o
    WHERE t.verdict = 'ok'
    ORDER BY t.i, o.n
  LOOP
    PERFORM stepwell.tell_breaker(r.tenant_id, r.instance_id, r.v, v_now);
  END LOOP;
  IF NOT p ? 'takes' THEN
    RETURN p;
  END IF;
  v_turns := ARRAY(SELECT e.v FROM jsonb_array_elements(p -> 'turns') WITH ORDINALITY AS e(v, n) ORDER BY e.n);
  v_frames := ARRAY(SELECT e.v FROM jsonb_array_elements(p -> 'frames') WITH ORDINALITY AS e(v, n) ORDER BY e.n);
  FOR r IN
    SELECT t.i, t.tenant_id, t.instance_id, e.v
    FROM jsonb_array_elements(p -> 'takes') WITH ORDINALITY AS e(v, n)
    JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer
    WHERE t.verdict = 'ok' AND t.granted
    ORDER BY e.n
  LOOP
    v_answer := stepwell.take_one(r.tenant_id, r.instance_id, r.v, v_now);
    IF v_answer -> 'until' <> 'null' THEN
      PERFORM stepwell.note_limit_wait(r.tenant_id, r.instance_id, r.v, v_answer);
    END IF;
    v_place := coalesce((r.v ->> 'f')::integer, r.i) + 1;
    IF r.v ? 'f' THEN
      v_frames[v_place] := stepwell.limited_intent(v_frames[v_place], r.v, v_answer);
    ELSE
      v_turns[v_place] := stepwell.limited_intent(v_turns[v_place], r.v, v_answer);
    END IF;
    v_asked := array_append(v_asked, r.i);
    v_answers := array_append(v_answers, v_answer);
  END LOOP;
  p := p || jsonb_build_object('turns', to_jsonb(v_turns), 'taken', (
    SELECT coalesce(jsonb_object_agg(g.i::text, g.answers), '{}')
    FROM (
      SELECT u.i, jsonb_agg(u.v ORDER BY u.n) AS answers
      FROM unnest(v_asked, v_answers) WITH ORDINALITY AS u(i, v, n) GROUP BY u.i
    ) g));
  IF p ? 'frames' THEN
    p := p || jsonb_build_object('frames', to_jsonb(v_frames));
  END IF;
  RETURN p;
END $$;

-- The turns with the payload as it is now.
CREATE FUNCTION stepwell.with_payload(p jsonb, a stepwell.checked_turn[]) RETURNS stepwell.checked_turn[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  t stepwell.checked_turn;
BEGIN
  FOR n IN 1 .. cardinality(a) LOOP
    t := a[n];
    t.body := p -> 'turns' -> t.i;
    a[n] := t;
  END LOOP;
  RETURN a;
END $$;

-- The answers of a commit that had landed before. Nothing was committed since, so the stored frame says which intents
-- were granted.
CREATE FUNCTION stepwell.taken_before(p jsonb, p_i integer, p_tenant text, p_instance uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_stored jsonb;
  v_taken jsonb := '[]';
BEGIN
  FOR r IN
    SELECT e.v, p -> 'frames' -> (e.v ->> 'f')::integer AS f
    FROM jsonb_array_elements(p -> 'takes') WITH ORDINALITY AS e(v, n)
    WHERE (e.v ->> 'i')::integer = p_i ORDER BY e.n
  LOOP
    IF r.f IS NULL THEN
      SELECT i.root_frame INTO v_stored FROM stepwell.task_instances i
      WHERE i.id = p_instance AND (i.tenant_id = p_tenant) IS TRUE;
    ELSE
      SELECT t.frame INTO v_stored FROM stepwell.execution_tree t
      WHERE t.instance_id = p_instance AND t.block_id = r.f ->> 'blockId'
        AND t.branch_index = (r.f ->> 'branch')::integer AND t.iteration = r.f ->> 'iteration';
    END IF;
    IF v_stored -> 'leaf' ? 'limit' THEN
      v_taken := v_taken || jsonb_build_object('denied', v_stored -> 'leaf' -> 'reason', 'until', v_stored -> 'leaf' -> 'wakeAt');
    ELSIF v_stored IS DISTINCT FROM coalesce(r.f -> 'frame', p -> 'turns' -> p_i -> 'root') THEN
      v_taken := v_taken || jsonb_build_object('taken', coalesce(v_stored -> 'leaf' -> 'taken', '{}') - 'rate');
    ELSE
      -- Only a pool that can give nothing leaves no trace.
      v_taken := v_taken || stepwell.denied('pool_empty', NULL);
    END IF;
  END LOOP;
  RETURN v_taken;
END $$;

-- New caps of a budget ([BUD-4]): at once for an instance that has ended, a fact like any other for the rest.
CREATE FUNCTION stepwell.set_budget_v1(p_tenant text, p_instance uuid, p_fact uuid, p_budget jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
BEGIN
  SELECT i.tenant_id, i.state INTO r FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  IF r.state IS NULL THEN
    RETURN 'not_found';
  END IF;
  IF EXISTS (SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = p_instance AND s.id = p_fact) THEN
    RETURN 'accepted';
  END IF;
  IF stepwell.is_terminal(r.state) THEN
    UPDATE stepwell.task_instances i SET budget = p_budget, updated_at = stepwell.sw_now() WHERE i.id = p_instance;
    RETURN 'applied';
  END IF;
  PERFORM stepwell.accept_fact(r.tenant_id, p_instance, p_fact, 'context', NULL,
    jsonb_build_object('sections', '{}'::jsonb, 'mode', 'replace', 'budget', p_budget), stepwell.sw_now());
  RETURN 'accepted';
END $$;

CALL stepwell.protect_new();

-- The app role manages limits within its tenant.
GRANT INSERT, UPDATE, DELETE ON stepwell.rate_limits, stepwell.rate_grants, stepwell.circuit_breakers,
  stepwell.resource_pools, stepwell.pool_resources TO stepwell_app;
