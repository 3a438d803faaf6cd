-- The plans of these functions are made once per connection, often while the tables are nearly empty: then every plan
-- looks cheap, and a bad one is kept while the tables grow. So the statements leave one plan only:
-- * enable_seqscan = off on every function that is called from outside, and no plan for the values at hand: those would
--   be made anew for each call;
-- * `i.id = ANY (ARRAY[t.id])` joins a list to a table by an index look-up per element; it cannot become a hash or merge
--   join, which would read the whole table. It is not enough where a partial index fits the other conditions: there the
--   ids come as one array;
-- * beside a primary key other conditions are written with IS TRUE: they filter and are no reason to choose an index;
-- * rows that are sorted, or counted by group, are read in a query of their own that ends with OFFSET 0: where sorts are
--   off, an index that has all instances in that order looks better than the few ids.

-- Claims. Each of the functions locks rows in a statement of its own, updates them in the next and reads what the turn
-- needs in a third: at READ COMMITTED only a later statement sees what was committed while the lock was waited for.

-- One row per concurrency key. Its lock makes counting the running instances and admitting one more a single act.
CREATE TABLE stepwell.concurrency_keys (
  tenant_id text COLLATE "C" NOT NULL,
  concurrency_key text COLLATE "C" NOT NULL,
  CONSTRAINT concurrency_keys_pkey PRIMARY KEY (tenant_id, concurrency_key)
);

CREATE FUNCTION stepwell.instance_json(i stepwell.task_instances) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object(
  'id', i.id, 'tenantId', i.tenant_id, 'namespace', i.namespace, 'sequenceId', i.sequence_id,
  'state', i.state, 'priority', i.priority, 'timezone', i.timezone, 'nextFireAt', stepwell.to_ms(i.next_fire_at),
  'data', i.data, 'config', i.config, 'audit', i.audit, 'metadata', i.metadata,
  'parent', CASE WHEN i.parent_instance_id IS NOT NULL THEN json_build_object(
    'instanceId', i.parent_instance_id, 'blockId', i.parent_block_id,
    'iteration', i.parent_iteration, 'entry', i.parent_entry) END,
  'depth', i.depth, 'sessionId', i.session_id, 'dryRun', i.dry_run, 'dryRunAutoApprove', i.dry_run_auto_approve,
  'dryRunRealTime', i.dry_run_real_time,
  'createdAt', stepwell.to_ms(i.created_at), 'startedAt', stepwell.to_ms(i.started_at),
  'runNo', i.run_no, 'runId', i.run_id, 'rev', i.rev, 'totalSteps', i.total_steps,
  'recoveryCount', i.recovery_count, 'cancelRequestedAt', stepwell.to_ms(i.cancel_requested_at),
  'currentStep', CASE WHEN i.current_step IS NOT NULL THEN json_build_object('blockId', i.current_step -> 0,
    'startedAt', i.current_step -> 1, 'attempt', coalesce(i.current_step -> 2, '0'), 'resource', i.current_step -> 3) END,
  'hasHistory', i.has_history, 'budget', i.budget, 'usage', i.usage);

CREATE FUNCTION stepwell.frames_json(i stepwell.task_instances) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT json_agg(json_build_object('b', f.block_id, 'n', f.branch_index, 'i', f.iteration, 'f', f.frame))
    FROM stepwell.execution_tree f
    WHERE f.instance_id = i.id AND f.tenant_id = i.tenant_id);
END $$;

-- Facts that no turn has processed yet and that stand above p_seq; at most 1,000, the rest comes with the next answer.
CREATE FUNCTION stepwell.inbox_json(p_tenant text, p_instance uuid, p_seq bigint) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT json_agg(json_build_object('seq', f.seq, 'id', f.id, 'at', stepwell.to_ms(f.created_at),
      'kind', f.kind, 'type', f.signal_type, 'payload', f.payload) ORDER BY f.seq)
    FROM (
      SELECT s.seq, s.id, s.created_at, s.kind, s.signal_type, s.payload
      FROM stepwell.signal_inbox s
      WHERE s.instance_id = p_instance AND s.tenant_id = p_tenant AND NOT s.delivered AND s.seq > p_seq
      ORDER BY s.seq
      LIMIT 1000
    ) f);
END $$;

CREATE FUNCTION stepwell.claims_json(p_ids uuid[], p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object(
      'epoch', i.epoch, 'leaseToken', i.lease_token, 'leaseUntil', stepwell.to_ms(i.lease_until),
      'takenOver', i.suspect,
      'among', i.claimed_among,
      -- Held back: not begun and not yet due, or without a free slot (RULINGS A26).
      'mayRun', NOT (i.state = 'scheduled' AND i.next_fire_at > p_now AND (i.started_at IS NULL OR i.waits_for_slot)),
      'keyed', i.concurrency_key IS NOT NULL AND i.max_concurrency IS NOT NULL,
      'instance', stepwell.instance_json(i),
      'hooks', i.hooks_pending,
      'shape', i.shape,
      'root', i.root_frame,
      'frames', CASE WHEN i.rev > 0 THEN stepwell.frames_json(i) END,
      'inbox', CASE WHEN i.wake_seq > 0 THEN stepwell.inbox_json(i.tenant_id, i.id, 0) END,
      'breakers', (SELECT json_agg(b.handler) FROM stepwell.circuit_breakers b
        WHERE b.tenant_id = i.tenant_id AND b.failure_count > 0 AND b.state <> 'closed')
    ) ORDER BY u.position), '[]')
    FROM unnest(p_ids) WITH ORDINALITY AS u(id, position)
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id]));
END $$;

-- Which of these locked instances find no free slot of their concurrency key ([CONC-1], RULINGS A31). The lock of the
-- key comes first; only the statement after it counts.
CREATE FUNCTION stepwell.without_slot(p_ids uuid[], p_now timestamptz) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_key record;
BEGIN
  FOR v_key IN
    SELECT e.tenant_id, e.concurrency_key
    FROM (SELECT i.tenant_id, i.concurrency_key FROM stepwell.task_instances i WHERE i.id = ANY (p_ids) OFFSET 0) e
    WHERE e.concurrency_key IS NOT NULL
    GROUP BY e.tenant_id, e.concurrency_key
    ORDER BY e.tenant_id, e.concurrency_key
  LOOP
    PERFORM 1 FROM stepwell.concurrency_keys k
    WHERE k.tenant_id = v_key.tenant_id AND k.concurrency_key = v_key.concurrency_key FOR UPDATE;
  END LOOP;
  RETURN (
    SELECT array_agg(c.id)
    FROM (
      SELECT e.id, e.tenant_id, e.concurrency_key, e.max_concurrency,
        row_number() OVER (PARTITION BY e.tenant_id, e.concurrency_key ORDER BY e.position) AS rank
      FROM (
        SELECT i.id, i.tenant_id, i.concurrency_key, i.max_concurrency, i.state, i.next_fire_at, u.position
        FROM unnest(p_ids) WITH ORDINALITY AS u(id, position)
        JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
        OFFSET 0
      ) e
      WHERE e.concurrency_key IS NOT NULL AND e.max_concurrency IS NOT NULL
        AND e.state = 'scheduled' AND (e.next_fire_at IS NULL OR e.next_fire_at <= p_now)
    ) c
    WHERE c.rank + (
      SELECT count(*) FROM stepwell.task_instances r
      WHERE r.tenant_id = c.tenant_id AND r.concurrency_key = c.concurrency_key AND r.state = 'running'
    ) > c.max_concurrency);
END $$;

-- The others of a key whose slots are all taken need not be claimed to learn it. They are put off together, so that what
-- is due behind them has its turn, and for half a minute or more, since a slot that gets free makes the best of all
-- waiters due. The keys are those of the given instances that were just put off. Left alone are those that may have a slot by their own limit, and those that a fact waits for.
CREATE FUNCTION stepwell.put_off_waiters(p_ids uuid[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.task_instances i
  SET next_fire_at = p.at, due_at = p.at, waits_for_slot = true
  FROM (
    SELECT w.id, p_now + (30000 + floor(random() * 30000)::integer) * interval '1 millisecond' AS at
    FROM (
      SELECT d.tenant_id, d.concurrency_key, min(d.max_concurrency) AS slots
      FROM (SELECT i.* FROM stepwell.task_instances i WHERE i.id = ANY (p_ids) OFFSET 0) d
      WHERE d.concurrency_key IS NOT NULL AND d.waits_for_slot AND d.next_fire_at > p_now
      GROUP BY d.tenant_id, d.concurrency_key
    ) k
    CROSS JOIN LATERAL (
      SELECT o.id FROM stepwell.task_instances o
      WHERE o.tenant_id = k.tenant_id AND o.concurrency_key = k.concurrency_key AND o.state = 'scheduled'
        AND o.max_concurrency <= k.slots AND o.due_at <= p_now AND o.lease_until IS NULL
        AND (o.next_fire_at IS NULL OR o.next_fire_at <= p_now) AND o.wake_seq = o.seen_seq
      LIMIT 2000
      FOR NO KEY UPDATE SKIP LOCKED
    ) w
  ) p
  WHERE i.id = ANY (ARRAY[p.id]);
END $$;

-- An instance has left `running`: the best of those that were put off for want of a slot is due at once ([CONC-3]).
-- A waiter that is locked is being looked at anyway. Answers the one that is due now.
CREATE FUNCTION stepwell.release_slot(p_tenant text, p_key text, p_now timestamptz) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_id uuid;
BEGIN
  UPDATE stepwell.task_instances i
  SET next_fire_at = p_now, due_at = p_now, waits_for_slot = false
  WHERE i.id = (
    SELECT w.id FROM stepwell.task_instances w
    WHERE w.tenant_id = p_tenant AND w.concurrency_key = p_key AND w.state = 'scheduled'
      AND w.waits_for_slot AND w.lease_until IS NULL
    ORDER BY w.priority DESC, w.due_at, w.id LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED)
  RETURNING i.id INTO v_id;
  RETURN v_id;
END $$;

-- Answers the instances that are due now, each with its tenant; null for none.
CREATE FUNCTION stepwell.release_slots(p_tenants text[], p_keys text[], p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT json_agg(json_build_object('tenantId', r.tenant_id, 'instanceId', r.id))
    FROM (
      SELECT k.tenant_id, stepwell.release_slot(k.tenant_id, k.key, p_now) AS id
      FROM (SELECT * FROM unnest(p_tenants, p_keys) AS u(tenant_id, key) ORDER BY 1, 2) k
      WHERE k.key IS NOT NULL
      OFFSET 0
    ) r
    WHERE r.id IS NOT NULL);
END $$;

-- Cleanup hooks of an ended instance that make no progress are given up: an end is never taken back ([HOOK-3]).
CREATE FUNCTION stepwell.give_up_hooks(p_tenant text, p_instance uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.journal (tenant_id, instance_id, id, kind, details, created_at)
  SELECT i.tenant_id, i.id, stepwell.uuid_v7(p_now), 'hooks_given_up', jsonb_build_object('next', i.hooks_pending -> 'next'), p_now
  FROM stepwell.task_instances i WHERE i.id = p_instance AND (i.tenant_id = p_tenant) IS TRUE;
  UPDATE stepwell.task_instances i
  SET due_at = NULL, lease_until = NULL, lease_token = NULL, lease_owner = NULL, claims_without_progress = 0, open_waits = 0,
    hooks_pending = NULL
  WHERE i.id = p_instance AND (i.tenant_id = p_tenant) IS TRUE;
END $$;

-- More than 20 claims in a row without a committed change: the run is paused instead (RULINGS B7). Answers the instances that
-- got a slot which that has freed, each with its tenant; null for none.
CREATE FUNCTION stepwell.pause_without_progress(p_ids uuid[], p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_next uuid;
  v_given jsonb;
BEGIN
  FOR r IN SELECT i.id, i.tenant_id, i.state, i.concurrency_key FROM stepwell.task_instances i WHERE i.id = ANY (p_ids) LOOP
    IF stepwell.is_terminal(r.state) THEN
      PERFORM stepwell.give_up_hooks(r.tenant_id, r.id, p_now);
      CONTINUE;
    END IF;
    UPDATE stepwell.task_instances i
    SET state = 'paused', next_fire_at = NULL, due_at = NULL, lease_until = NULL, lease_token = NULL, lease_owner = NULL,
      claims_without_progress = 0, metadata = i.metadata || '{"paused_reason": "no_progress"}', updated_at = p_now
    WHERE i.id = r.id;
    IF r.state <> 'paused' THEN
      INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, from_state, to_state, created_at)
      VALUES (r.tenant_id, r.id, stepwell.uuid_v7(p_now), 'state_transition', r.state, 'paused', p_now);
    END IF;
    IF r.state = 'running' AND r.concurrency_key IS NOT NULL THEN
      v_next := stepwell.release_slot(r.tenant_id, r.concurrency_key, p_now);
      IF v_next IS NOT NULL THEN
        v_given := coalesce(v_given, '[]') || jsonb_build_object('tenantId', r.tenant_id, 'instanceId', v_next);
      END IF;
    END IF;
  END LOOP;
  RETURN v_given;
END $$;

-- What a claim took, and who got a slot that it has freed.
CREATE TYPE stepwell.leases_taken AS (ids uuid[], given jsonb);

-- Takes the lease of instances that the caller has locked. Answers those it took: one that makes no progress is paused
-- instead; one without a free slot is put off by one to two seconds, unless a new fact waits for it. p_among: what their
-- process promises (see claimed_among).
CREATE FUNCTION stepwell.take_leases(
  p_ids uuid[], p_token uuid, p_owner text, p_lease_ms bigint, p_now timestamptz, p_among integer
) RETURNS stepwell.leases_taken
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_given jsonb;
  v_idle uuid[];
  v_keyed boolean;
  v_denied uuid[];
  v_taken uuid[];
BEGIN
  SELECT array_agg(i.id) FILTER (WHERE i.claims_without_progress >= 20), bool_or(i.concurrency_key IS NOT NULL)
  INTO v_idle, v_keyed
  FROM stepwell.task_instances i WHERE i.id = ANY (p_ids);
  IF v_idle IS NOT NULL THEN
    v_given := stepwell.pause_without_progress(v_idle, p_now);
    p_ids := ARRAY(
      SELECT u.id FROM unnest(p_ids) WITH ORDINALITY AS u(id, position)
      WHERE NOT (u.id = ANY (v_idle)) ORDER BY u.position);
  END IF;
  IF v_keyed THEN
    v_denied := stepwell.without_slot(p_ids, p_now);
    IF v_denied IS NOT NULL THEN
      UPDATE stepwell.task_instances i
      SET next_fire_at = p.at, due_at = p.at, waits_for_slot = true, updated_at = p_now
      FROM (
        SELECT u.id, p_now + (1000 + floor(random() * 1000)::integer) * interval '1 millisecond' AS at
        FROM unnest(v_denied) AS u(id)
      ) p
      WHERE i.id = ANY (ARRAY[p.id]);
      p_ids := ARRAY(
        SELECT u.id FROM unnest(p_ids) WITH ORDINALITY AS u(id, position)
        JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
        WHERE NOT (u.id = ANY (v_denied)) OR i.wake_seq > i.seen_seq
        ORDER BY u.position);
    END IF;
  END IF;
  WITH taken AS (
    UPDATE stepwell.task_instances i
    SET lease_until = p_now + p_lease_ms * interval '1 millisecond',
      lease_token = p_token,
      lease_owner = p_owner,
      epoch = i.epoch + 1,
      due_at = NULL,
      claims_without_progress = i.claims_without_progress + 1,
      claimed_among = p_among,
      updated_at = p_now,
      waits_for_slot = i.waits_for_slot AND i.next_fire_at > p_now,
      state = CASE WHEN i.state = 'scheduled' AND (i.next_fire_at IS NULL OR i.next_fire_at <= p_now)
        THEN 'running' ELSE i.state END,
      -- The first claim that may run the tree begins the run.
      started_at = CASE WHEN i.state = 'running'
          OR (i.state = 'scheduled' AND (i.next_fire_at IS NULL OR i.next_fire_at <= p_now))
        THEN coalesce(i.started_at, p_now) ELSE i.started_at END
    WHERE i.id = ANY (p_ids)
    RETURNING i.id
  )
  SELECT array_agg(u.id ORDER BY u.position) INTO v_taken
  FROM unnest(p_ids) WITH ORDINALITY AS u(id, position) JOIN taken ON taken.id = u.id;
  RETURN ROW(coalesce(v_taken, '{}'), v_given)::stepwell.leases_taken;
END $$;

-- Instances that this token holds already: the answer of an earlier claim with it was lost (RULINGS A24).
CREATE FUNCTION stepwell.held_by(p_token uuid, p_now timestamptz) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT array_agg(h.id ORDER BY h.id) FROM (
      -- OFFSET keeps the order of the list from choosing the index.
      SELECT i.id FROM stepwell.task_instances i WHERE i.lease_until > p_now AND i.lease_token = p_token OFFSET 0
    ) h);
END $$;

-- Tenants with something due at this priority, at most 256, starting with the one that has waited longest. Reads one
-- index entry per tenant, however long the backlog is.
CREATE FUNCTION stepwell.due_tenants(p_priority integer, p_first text, p_now timestamptz) RETURNS text[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    WITH RECURSIVE tenants (tenant_id, n, wrapped) AS (
      SELECT p_first COLLATE "C", 1, false
      UNION ALL
      SELECT coalesce(following.tenant_id, least_one.tenant_id), t.n + 1, t.wrapped OR following.tenant_id IS NULL
      FROM tenants t
      LEFT JOIN LATERAL (
        SELECT i.tenant_id FROM stepwell.task_instances i
        WHERE i.priority = p_priority AND i.tenant_id > t.tenant_id AND i.lease_until IS NULL AND i.due_at IS NOT NULL
        ORDER BY i.tenant_id LIMIT 1
      ) following ON true
      LEFT JOIN LATERAL (
        SELECT i.tenant_id FROM stepwell.task_instances i
        WHERE following.tenant_id IS NULL AND NOT t.wrapped
          AND i.priority = p_priority AND i.lease_until IS NULL AND i.due_at IS NOT NULL
        ORDER BY i.tenant_id LIMIT 1
      ) least_one ON true
      WHERE t.n < 256
        AND coalesce(following.tenant_id, least_one.tenant_id) IS NOT NULL
        AND (NOT (t.wrapped OR following.tenant_id IS NULL)
          OR coalesce(following.tenant_id, least_one.tenant_id) < p_first)
    )
    SELECT array_agg(t.tenant_id ORDER BY t.n) FROM tenants t
    -- One look per tenant: with EXISTS the planner may read the whole backlog for a hash.
    WHERE (
      SELECT true FROM stepwell.task_instances i
      WHERE i.priority = p_priority AND i.tenant_id = t.tenant_id AND i.due_at <= p_now AND i.lease_until IS NULL
      LIMIT 1));
END $$;

-- Locks up to p_limit due instances of one priority, an equal share per tenant, oldest first within a tenant.
CREATE FUNCTION stepwell.lock_due(
  p_priority integer, p_tenants text[], p_share integer, p_cap integer, p_taken uuid[], p_limit integer, p_now timestamptz
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT array_agg(d.id)
    FROM (
      SELECT c.id
      FROM unnest(p_tenants) WITH ORDINALITY AS u(tenant_id, position)
      CROSS JOIN LATERAL (
        SELECT i.id FROM stepwell.task_instances i
        WHERE i.priority = p_priority AND i.tenant_id = u.tenant_id
          AND i.due_at <= p_now AND i.lease_until IS NULL AND i.company IS NULL
        ORDER BY i.due_at, i.id
        LIMIT CASE WHEN p_cap = 0 THEN p_share ELSE least(p_share, greatest(0, p_cap - (
          SELECT count(*) FROM stepwell.task_instances h WHERE h.id = ANY (p_taken) AND (h.tenant_id = u.tenant_id) IS TRUE))) END
        FOR NO KEY UPDATE SKIP LOCKED
      ) c
      LIMIT p_limit
    ) d);
END $$;

-- A process that ended says of each of its turns that it may be to blame. What was lost in company comes back in smaller
-- company, so that the guilty one takes fewer along each time, until it is alone; only then is it known who it was, and only
-- that counts against it. Halves and not singles at once: a whole fleet may have ended, with nobody to blame.
CREATE FUNCTION stepwell.smaller_company(p_among integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE WHEN p_among <= 4 THEN 1 ELSE p_among / 4 END;
END $$;

-- How many suspects a process may have beside each other when it takes one of this company; null: not now, for it promises
-- too much, or is busy where the suspect has to be alone. p_suspects are at work there.
CREATE FUNCTION stepwell.company_of(p_company integer, p_among integer, p_busy boolean, p_suspects integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE
    WHEN p_company IS NULL OR p_company > p_among THEN p_among
    WHEN p_company = 1 THEN CASE WHEN NOT p_busy THEN 1 END
    WHEN p_company > p_suspects THEN p_company END;
END $$;

-- Suspects that are claimed together, up to the company of the first, which is answered with them. They come when their
-- turn has come: nothing of this priority has been due for longer. `waits`: the company of the first, when it cannot come now.
CREATE TYPE stepwell.suspects_locked AS (ids uuid[], among integer, waits integer);

CREATE FUNCTION stepwell.lock_suspects(
  p_priority integer, p_limit integer, p_among integer, p_busy boolean, p_suspects integer, p_now timestamptz
) RETURNS stepwell.suspects_locked
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_among integer;
  v_ids uuid[];
BEGIN
  SELECT i.company, i.due_at INTO r FROM stepwell.task_instances i
  WHERE i.company IS NOT NULL AND i.priority = p_priority AND i.due_at <= p_now AND i.lease_until IS NULL
  ORDER BY i.due_at, i.id LIMIT 1;
  IF NOT FOUND OR EXISTS (
    SELECT 1 FROM stepwell.task_instances o
    WHERE o.due_at < r.due_at AND o.lease_until IS NULL AND o.priority = p_priority AND o.company IS NULL
  ) THEN
    RETURN NULL;
  END IF;
  v_among := stepwell.company_of(r.company, p_among, p_busy, p_suspects);
  IF v_among IS NULL THEN
    RETURN ROW(NULL, NULL, r.company)::stepwell.suspects_locked;
  END IF;
  SELECT array_agg(s.id) INTO v_ids FROM (
    SELECT i.id FROM stepwell.task_instances i
    WHERE i.company IS NOT NULL AND i.priority = p_priority AND i.due_at <= p_now AND i.lease_until IS NULL
      AND i.company >= least(r.company, p_among)
    ORDER BY i.due_at, i.id LIMIT least(p_limit, greatest(1, v_among - p_suspects))
    FOR NO KEY UPDATE SKIP LOCKED
  ) s;
  RETURN ROW(v_ids, v_among, NULL)::stepwell.suspects_locked;
END $$;

-- p_among: the turns that the process has at most; p_busy: it has some now; p_suspects: so many of them are suspects.
CREATE FUNCTION stepwell.claim_due_v1(
  p_token uuid, p_owner text, p_lease_ms bigint, p_limit integer, p_per_tenant integer, p_among integer, p_busy boolean,
  p_suspects integer
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_first text;
  v_ids uuid[];
  v_new uuid[];
  v_taken uuid[] := stepwell.held_by(p_token, v_now);
  v_leases stepwell.leases_taken;
  v_given jsonb;
  v_tenants text[];
  v_priority integer;
  v_suspects stepwell.suspects_locked;
  v_waits integer;
  -- Rounds that took nothing, such as those that only met full keys.
  v_vain integer := 0;
BEGIN
  IF v_taken IS NOT NULL THEN
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', stepwell.claims_json(v_taken, v_now));
  END IF;
  v_taken := '{}';
  SELECT i.tenant_id INTO v_first FROM stepwell.task_instances i
  WHERE i.due_at <= v_now AND i.lease_until IS NULL
  ORDER BY i.due_at LIMIT 1;
  IF NOT FOUND THEN
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', '[]'::json);
  END IF;

  FOR v_priority IN REVERSE 3..0 LOOP
    IF cardinality(v_taken) = 0 THEN
      v_suspects := stepwell.lock_suspects(v_priority, p_limit, p_among, p_busy, p_suspects, v_now);
      v_waits := least(v_waits, v_suspects.waits);
      IF v_suspects.ids IS NOT NULL THEN
        v_leases := stepwell.take_leases(v_suspects.ids, p_token, p_owner, p_lease_ms, v_now, v_suspects.among);
        v_taken := v_leases.ids;
        v_given := coalesce(v_given || v_leases.given, v_given, v_leases.given);
        EXIT WHEN cardinality(v_taken) > 0;
      END IF;
    END IF;
    v_tenants := stepwell.due_tenants(v_priority, v_first, v_now);
    CONTINUE WHEN v_tenants IS NULL;
    LOOP
      v_ids := stepwell.lock_due(v_priority, v_tenants,
        ceil((p_limit - cardinality(v_taken))::numeric / cardinality(v_tenants))::integer,
        p_per_tenant, v_taken, p_limit - cardinality(v_taken), v_now);
      EXIT WHEN v_ids IS NULL;
      v_leases := stepwell.take_leases(v_ids, p_token, p_owner, p_lease_ms, v_now, p_among);
      v_new := v_leases.ids;
      v_given := coalesce(v_given || v_leases.given, v_given, v_leases.given);
      v_taken := v_taken || v_new;
      IF cardinality(v_new) < cardinality(v_ids) THEN
        PERFORM stepwell.put_off_waiters(v_ids, v_now);
      END IF;
      -- What was put off stays put off only if this claim comes to an end.
      v_vain := v_vain + CASE WHEN cardinality(v_new) = 0 THEN 1 ELSE 0 END;
      EXIT WHEN cardinality(v_taken) >= p_limit OR v_vain >= 16;
    END LOOP;
    EXIT WHEN cardinality(v_taken) >= p_limit OR v_vain >= 16;
  END LOOP;
  RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', stepwell.claims_json(v_taken, v_now), 'given', v_given,
    'waits', v_waits);
END $$;

-- Notes that these locked instances lost their lease, and takes it from them: they are due now. Only a turn that was alone
-- in its process speaks against the instance (RULINGS A18). p_together: all that their process had, or the most of it, so that
-- there cannot have been more; it says nothing about being alone.
CREATE FUNCTION stepwell.count_take_over(p_ids uuid[], p_together boolean, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.task_instances i
  SET suspect = true,
    recovery_count = i.recovery_count + CASE WHEN i.claimed_among = 1 THEN 1 ELSE 0 END,
    company = CASE WHEN i.claimed_among = 0 THEN i.company
      ELSE stepwell.smaller_company(least(i.claimed_among, CASE WHEN p_together THEN greatest(l.lost, 8) END)) END,
    claimed_among = 0,
    lease_until = NULL, lease_token = NULL, lease_owner = NULL,
    due_at = p_now,
    updated_at = p_now
  FROM (
    SELECT e.id, count(*) OVER (PARTITION BY e.lease_owner)::integer AS lost
    FROM (SELECT o.id, o.lease_owner FROM stepwell.task_instances o WHERE o.id = ANY (p_ids) OFFSET 0) e
    OFFSET 0
  ) l
  WHERE i.id = ANY (ARRAY[l.id]);
END $$;

-- Take-over of expired leases, oldest first: all of them are noted, up to 500, and those come with it that may be in one
-- process, which is up to the first that may be beside what it is at. `left` are the others: they are due.
-- An expired lease of an operator on a terminal instance is only removed.
CREATE FUNCTION stepwell.claim_expired_v1(
  p_token uuid, p_owner text, p_lease_ms bigint, p_limit integer, p_per_tenant integer, p_among integer, p_busy boolean,
  p_suspects integer
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_ids uuid[];
  v_chosen uuid[];
  v_among integer;
  v_taken uuid[] := stepwell.held_by(p_token, v_now);
  v_leases stepwell.leases_taken;
BEGIN
  IF v_taken IS NOT NULL THEN
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', stepwell.claims_json(v_taken, v_now));
  END IF;
  SELECT array_agg(e.id) INTO v_ids FROM (
    SELECT i.id FROM stepwell.task_instances i
    WHERE i.lease_until <= v_now
    ORDER BY i.lease_until, i.id LIMIT greatest(p_limit, 500)
    FOR NO KEY UPDATE SKIP LOCKED
  ) e;
  IF v_ids IS NOT NULL THEN
    UPDATE stepwell.task_instances i SET lease_until = NULL, lease_token = NULL, lease_owner = NULL
    WHERE i.id = ANY (v_ids) AND stepwell.is_terminal(i.state) AND i.hooks_pending IS NULL;
    SELECT array_agg(u.id ORDER BY u.position) INTO v_ids
    FROM unnest(v_ids) WITH ORDINALITY AS u(id, position)
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
    WHERE i.lease_until IS NOT NULL;
  END IF;
  IF v_ids IS NULL THEN
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', '[]'::json);
  END IF;
  PERFORM stepwell.count_take_over(v_ids, true, v_now);
  SELECT c.among INTO v_among
  FROM (
    SELECT u.position, stepwell.company_of(i.company, p_among, p_busy, p_suspects) AS among
    FROM unnest(v_ids) WITH ORDINALITY AS u(id, position)
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
    OFFSET 0
  ) c
  WHERE c.among IS NOT NULL ORDER BY c.position LIMIT 1;
  SELECT array_agg(c.id ORDER BY c.position) INTO v_chosen
  FROM (
    SELECT e.id, e.position FROM (
      SELECT i.id, u.position, row_number() OVER (PARTITION BY i.tenant_id ORDER BY u.position) AS of_tenant
      FROM unnest(v_ids) WITH ORDINALITY AS u(id, position)
      JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
      WHERE coalesce(i.company, p_among) >= v_among
    ) e
    WHERE p_per_tenant = 0 OR e.of_tenant <= p_per_tenant
    ORDER BY e.position LIMIT least(p_limit, greatest(1, v_among - p_suspects))
  ) c;
  IF v_chosen IS NOT NULL THEN
    v_leases := stepwell.take_leases(v_chosen, p_token, p_owner, p_lease_ms, v_now, v_among);
  END IF;
  v_taken := coalesce(v_leases.ids, '{}');
  RETURN json_build_object('now', stepwell.to_ms(v_now), 'claims', stepwell.claims_json(v_taken, v_now),
    'given', v_leases.given, 'left', (
      SELECT json_agg(json_build_object('tenantId', i.tenant_id, 'instanceId', i.id) ORDER BY u.position)
      FROM unnest(v_ids) WITH ORDINALITY AS u(id, position)
      JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id])
      WHERE NOT u.id = ANY (v_taken) AND i.due_at <= v_now));
END $$;

-- The named claim of a hint or an operator. It waits for a locked row up to the lock timeout (RULINGS A28). A hint does not
-- get a suspect in larger company than it may be in.
CREATE FUNCTION stepwell.claim_one_v1(
  p_tenant text, p_instance uuid, p_token uuid, p_owner text, p_lease_ms bigint, p_operator boolean, p_take_over boolean,
  p_among integer
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
  v_now timestamptz;
  v_taken uuid[];
  v_leases stepwell.leases_taken;
  v_status text;
  v_company integer;
BEGIN
  SELECT i.id, i.state, i.due_at, i.lease_until, i.lease_token, i.wake_seq, i.hooks_pending IS NOT NULL AS hooks INTO r
  FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  IF r.id IS NULL THEN
    RETURN json_build_object('status', 'not_found', 'now', stepwell.to_ms(v_now));
  END IF;

  IF r.lease_token = p_token AND r.lease_until > v_now THEN
    RETURN json_build_object('status', 'claimed', 'now', stepwell.to_ms(v_now),
      'claims', stepwell.claims_json(ARRAY[r.id], v_now));
  END IF;

  v_status := CASE
    WHEN NOT p_operator AND stepwell.is_terminal(r.state) AND NOT r.hooks THEN 'terminal'
    WHEN r.lease_until > v_now AND NOT (p_operator AND p_take_over) THEN 'held'
    WHEN p_operator OR r.lease_until IS NOT NULL OR r.due_at <= v_now THEN NULL
    ELSE 'not_due'
  END;
  IF v_status IS NOT NULL THEN
    RETURN json_build_object('status', v_status, 'now', stepwell.to_ms(v_now));
  END IF;

  -- A lease that is still there was lost by its turn: expired, or taken away by an operator, which is no crash.
  IF r.lease_until > v_now THEN
    UPDATE stepwell.task_instances i SET suspect = true WHERE i.id = r.id;
  ELSIF r.lease_until IS NOT NULL THEN
    PERFORM stepwell.count_take_over(ARRAY[r.id], false, v_now);
  END IF;
  IF p_operator THEN
    UPDATE stepwell.task_instances i
    SET lease_until = v_now + p_lease_ms * interval '1 millisecond', lease_token = p_token, lease_owner = p_owner,
      epoch = i.epoch + 1, due_at = NULL, claimed_among = 0, updated_at = v_now
    WHERE i.id = r.id;
    v_taken := ARRAY[r.id];
  ELSE
    SELECT i.company INTO v_company FROM stepwell.task_instances i WHERE i.id = r.id;
    IF v_company < p_among THEN
      RETURN json_build_object('status', 'suspect', 'now', stepwell.to_ms(v_now), 'company', v_company);
    END IF;
    v_leases := stepwell.take_leases(ARRAY[r.id], p_token, p_owner, p_lease_ms, v_now, p_among);
    v_taken := v_leases.ids;
    IF cardinality(v_taken) = 0 THEN
      RETURN json_build_object('status', 'not_due', 'now', stepwell.to_ms(v_now), 'given', v_leases.given);
    END IF;
  END IF;
  RETURN json_build_object('status', 'claimed', 'now', stepwell.to_ms(v_now), 'claims', stepwell.claims_json(v_taken, v_now));
END $$;

-- Renews the leases that are still held. Locks in order and waits: a renewal that skipped a locked row would look like
-- a lost lease.
CREATE FUNCTION stepwell.renew_leases_v1(p_leases jsonb, p_lease_ms bigint) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
  v_renewed json;
BEGIN
  PERFORM 1 FROM stepwell.task_instances i
  WHERE i.id = ANY (ARRAY(SELECT x."instanceId" FROM jsonb_to_recordset(p_leases) AS x("instanceId" uuid)))
  ORDER BY i.id
  FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  WITH renewed AS (
    UPDATE stepwell.task_instances i
    SET lease_until = v_now + p_lease_ms * interval '1 millisecond'
    FROM jsonb_to_recordset(p_leases) AS x("tenantId" text, "instanceId" uuid, epoch bigint, "leaseToken" uuid)
    WHERE i.id = ANY (ARRAY[x."instanceId"]) AND (i.tenant_id = x."tenantId") IS TRUE
      AND i.epoch = x.epoch AND i.lease_token = x."leaseToken"
    RETURNING i.id
  )
  SELECT coalesce(json_agg(renewed.id), '[]') INTO v_renewed FROM renewed;
  RETURN v_renewed;
END $$;

-- Gives leases back as if they had not been taken; the claim is not held against the instance.
CREATE FUNCTION stepwell.release_leases_v1(p_leases jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
  v_tenants text[];
  v_keys text[];
BEGIN
  PERFORM 1 FROM stepwell.task_instances i
  WHERE i.id = ANY (ARRAY(SELECT x."instanceId" FROM jsonb_to_recordset(p_leases) AS x("instanceId" uuid)))
  ORDER BY i.id
  FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  WITH released AS (
    UPDATE stepwell.task_instances i
    SET lease_until = NULL, lease_token = NULL, lease_owner = NULL,
      state = CASE WHEN i.state = 'running' THEN 'scheduled' ELSE i.state END,
      next_fire_at = CASE WHEN i.state = 'running' THEN v_now ELSE i.next_fire_at END,
      due_at = CASE WHEN stepwell.is_terminal(i.state) AND i.hooks_pending IS NULL THEN NULL ELSE v_now END,
      -- A turn that has read afresh in vain counts as a claim without a change (RULINGS B7).
      claims_without_progress = greatest(0, i.claims_without_progress - CASE WHEN x."isHop" THEN 0 ELSE 1 END),
      updated_at = v_now
    FROM jsonb_to_recordset(p_leases) AS x("tenantId" text, "instanceId" uuid, epoch bigint, "leaseToken" uuid, "isHop" boolean)
    WHERE i.id = ANY (ARRAY[x."instanceId"]) AND (i.tenant_id = x."tenantId") IS TRUE
      AND i.epoch = x.epoch AND i.lease_token = x."leaseToken"
    RETURNING i.tenant_id, i.concurrency_key, i.state
  )
  SELECT array_agg(r.tenant_id), array_agg(r.concurrency_key) INTO v_tenants, v_keys
  FROM released r WHERE r.concurrency_key IS NOT NULL AND r.state = 'scheduled';
  RETURN stepwell.release_slots(v_tenants, v_keys, v_now);
END $$;

-- For the one process that owns a local data folder: whoever held these leases is dead (RULINGS B18). As if the sweep
-- had found them expired ([REC-1]): running ones are scheduled at now.
CREATE FUNCTION stepwell.void_all_leases_v1() RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
  v_ids uuid[];
  v_tenants text[];
  v_keys text[];
BEGIN
  -- Requests that the process took to its grave may be made again at once.
  UPDATE stepwell.idempotency_keys r SET lease_until = stepwell.sw_now() WHERE r.lease_until IS NOT NULL;
  SELECT array_agg(l.id) INTO v_ids FROM (
    SELECT i.id FROM stepwell.task_instances i WHERE i.lease_until IS NOT NULL ORDER BY i.id FOR NO KEY UPDATE
  ) l;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  v_now := stepwell.sw_now();
  PERFORM stepwell.count_take_over(array_agg(i.id), true, v_now) FROM stepwell.task_instances i
  WHERE i.id = ANY (v_ids) AND NOT (stepwell.is_terminal(i.state) AND i.hooks_pending IS NULL) HAVING count(*) > 0;
  INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, from_state, to_state, created_at)
  SELECT i.tenant_id, i.id, stepwell.uuid_v7(v_now), 'state_transition', 'running', 'scheduled', v_now
  FROM stepwell.task_instances i WHERE i.id = ANY (v_ids) AND i.state = 'running'
  ORDER BY i.id;
  WITH voided AS (
    UPDATE stepwell.task_instances i
    SET lease_until = NULL, lease_token = NULL, lease_owner = NULL, claimed_among = 0,
      epoch = i.epoch + 1,
      state = CASE WHEN i.state = 'running' THEN 'scheduled' ELSE i.state END,
      next_fire_at = CASE WHEN i.state = 'running' THEN v_now ELSE i.next_fire_at END,
      due_at = CASE WHEN stepwell.is_terminal(i.state) AND i.hooks_pending IS NULL THEN NULL ELSE v_now END,
      updated_at = v_now
    WHERE i.id = ANY (v_ids)
    RETURNING i.tenant_id, i.concurrency_key, i.state
  )
  SELECT array_agg(r.tenant_id), array_agg(r.concurrency_key) INTO v_tenants, v_keys
  FROM voided r WHERE r.concurrency_key IS NOT NULL AND r.state = 'scheduled';
  PERFORM stepwell.release_slots(v_tenants, v_keys, v_now);
  RETURN cardinality(v_ids);
END $$;

CREATE FUNCTION stepwell.peek_inbox_v1(p_leases jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(i.id), '[]')
    FROM jsonb_to_recordset(p_leases)
      AS x("tenantId" text, "instanceId" uuid, epoch bigint, "leaseToken" uuid, "seenSeq" bigint)
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[x."instanceId"]) AND (i.tenant_id = x."tenantId") IS TRUE
      AND i.epoch = x.epoch AND i.lease_token = x."leaseToken"
    WHERE i.wake_seq > greatest(x."seenSeq", i.seen_seq));
END $$;

CREATE FUNCTION stepwell.next_wake_v1() RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
BEGIN
  RETURN json_build_object(
    'now', stepwell.to_ms(stepwell.sw_now()),
    'dueAt', stepwell.to_ms((
      SELECT min(i.due_at) FROM stepwell.task_instances i WHERE i.lease_until IS NULL AND i.due_at IS NOT NULL)),
    'leaseUntil', stepwell.to_ms((
      SELECT min(i.lease_until) FROM stepwell.task_instances i WHERE i.lease_until IS NOT NULL)),
    'scheduleAt', stepwell.to_ms((SELECT min(s.wake_at) FROM stepwell.schedules s WHERE s.wake_at IS NOT NULL)));
END $$;
