-- What a run is made of besides its sequence: injected blocks and migrations (sequences.md 20.4, 20.5), and checkpoints.
--
-- Changes are numbered from 1; those up to `applied` of the instance's `shape` are in its frames and, unless refused, in
-- effect.
CREATE TABLE stepwell.instance_changes (
  instance_id uuid NOT NULL,
  number integer NOT NULL,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  -- Of a migration: where to.
  sequence_id uuid,
  -- {"blocks", "position", "before", "after"} of an injection, {"replaced"} of a migration.
  body jsonb NOT NULL,
  refused text,
  created_at timestamptz NOT NULL,
  CONSTRAINT instance_changes_pkey PRIMARY KEY (instance_id, number),
  CONSTRAINT instance_changes_id_key UNIQUE (instance_id, id),
  CONSTRAINT instance_changes_kind_check CHECK (kind IN ('inject', 'migrate')),
  CONSTRAINT instance_changes_sequence_check CHECK ((kind = 'migrate') = (sequence_id IS NOT NULL))
);

-- Who is on the way to a sequence that is to be deleted.
CREATE INDEX instance_changes_target_idx ON stepwell.instance_changes (sequence_id)
  WHERE kind = 'migrate' AND refused IS NULL;

CREATE TABLE stepwell.checkpoints (
  instance_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  data jsonb NOT NULL,
  CONSTRAINT checkpoints_pkey PRIMARY KEY (instance_id, created_at, id)
);

-- Number of the changes that have been accepted.
CREATE FUNCTION stepwell.changes_accepted(p_shape jsonb) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN coalesce((p_shape ->> 'accepted')::integer, 0);

-- The change is numbered under the row lock and only when its author knew of all that were accepted before. The fact just
-- says that there is a change: a running turn reads itself afresh.
CREATE FUNCTION stepwell.accept_change_v1(
  p_tenant text, p_instance uuid, p_id uuid, p_expected integer, p_kind text, p_sequence uuid, p_body jsonb
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
  v_now timestamptz;
  v_number integer;
BEGIN
  IF p_sequence IS NOT NULL THEN
    -- First, as a start does: a deletion waits, and then sees the change.
    PERFORM 1 FROM stepwell.sequences s WHERE s.id = p_sequence FOR KEY SHARE;
    IF NOT FOUND THEN
      RETURN json_build_object('status', 'no_sequence');
    END IF;
  END IF;
  SELECT i.tenant_id, i.state, i.shape INTO r
  FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  IF r.state IS NULL THEN
    RETURN json_build_object('status', 'not_found');
  END IF;
  v_now := stepwell.sw_now();
  SELECT c.number INTO v_number FROM stepwell.instance_changes c WHERE c.instance_id = p_instance AND c.id = p_id;
  IF v_number IS NOT NULL THEN
    RETURN json_build_object('status', 'accepted', 'number', v_number, 'isTerminal', stepwell.is_terminal(r.state));
  END IF;
  IF stepwell.changes_accepted(r.shape) <> p_expected THEN
    RETURN json_build_object('status', 'stale');
  END IF;
  IF p_kind = 'migrate' AND stepwell.is_terminal(r.state) THEN
    RETURN json_build_object('status', 'terminal');
  END IF;
  v_number := p_expected + 1;
  INSERT INTO stepwell.instance_changes (instance_id, number, id, tenant_id, kind, sequence_id, body, created_at)
  VALUES (p_instance, v_number, p_id, r.tenant_id, p_kind, p_sequence, p_body, v_now);
  UPDATE stepwell.task_instances i
  SET shape = jsonb_build_object('accepted', v_number, 'applied', coalesce((r.shape ->> 'applied')::integer, 0)),
    updated_at = v_now
  WHERE i.id = p_instance;
  IF NOT stepwell.is_terminal(r.state) THEN
    PERFORM stepwell.accept_fact(r.tenant_id, p_instance, p_id, 'shape', NULL,
      jsonb_build_object('change', v_number), v_now);
  END IF;
  RETURN json_build_object('status', 'accepted', 'number', v_number, 'isTerminal', stepwell.is_terminal(r.state));
END $$;

-- What a turn has made of changes, in its commit: those of its own steps, which of others it could not carry out, and up
-- to which one they are in its frames. A change that was accepted while the turn was on its way stays accepted.
CREATE FUNCTION stepwell.write_shapes(p_shapes jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.instance_changes (instance_id, number, id, tenant_id, kind, body, created_at)
  SELECT t.instance_id, (c.v ->> 'change')::integer, (c.v ->> 'id')::uuid, t.tenant_id, 'inject',
    jsonb_build_object('blocks', c.v -> 'blocks', 'position', c.v -> 'position', 'before', c.v -> 'before',
      'after', c.v -> 'after'), t.at
  FROM jsonb_array_elements(p_shapes) AS s(v)
  JOIN unnest(a) AS t ON t.i = (s.v ->> 'i')::integer
  CROSS JOIN LATERAL jsonb_array_elements(s.v -> 'added') AS c(v)
  WHERE t.verdict = 'ok' AND s.v ? 'added';
  UPDATE stepwell.instance_changes c SET refused = r.v ->> 'reason'
  FROM jsonb_array_elements(p_shapes) AS s(v)
  JOIN unnest(a) AS t ON t.i = (s.v ->> 'i')::integer
  CROSS JOIN LATERAL jsonb_array_elements(s.v -> 'refused') AS r(v)
  WHERE t.verdict = 'ok' AND s.v ? 'refused'
    AND c.instance_id = ANY (ARRAY[t.instance_id]) AND c.tenant_id = t.tenant_id
    AND c.number = (r.v ->> 'change')::integer;
  UPDATE stepwell.task_instances i
  SET shape = jsonb_build_object(
      'accepted', greatest((s.v ->> 'accepted')::integer, stepwell.changes_accepted(i.shape)),
      'applied', (s.v ->> 'applied')::integer),
    sequence_id = coalesce((s.v ->> 'sequenceId')::uuid, i.sequence_id)
  FROM jsonb_array_elements(p_shapes) AS s(v)
  JOIN unnest(a) AS t ON t.i = (s.v ->> 'i')::integer
  WHERE t.verdict = 'ok' AND i.id = ANY (ARRAY[t.instance_id]) AND (i.tenant_id = t.tenant_id) IS TRUE;
END $$;

CREATE FUNCTION stepwell.list_changes_v1(p_tenant text, p_instance uuid) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object('number', c.number, 'kind', c.kind, 'sequenceId', c.sequence_id,
      'body', c.body, 'refused', c.refused) ORDER BY c.number), '[]')
    FROM stepwell.instance_changes c
    WHERE c.instance_id = p_instance AND c.tenant_id = p_tenant);
END $$;

-- True while an instance that has not ended is on its way to this sequence.
CREATE FUNCTION stepwell.is_migration_target(p_sequence uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT 1 FROM stepwell.instance_changes c
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[c.instance_id])
    WHERE c.sequence_id = p_sequence AND c.kind = 'migrate' AND c.refused IS NULL
      AND c.number > coalesce((i.shape ->> 'applied')::integer, 0) AND NOT stepwell.is_terminal(i.state));
END $$;

CREATE FUNCTION stepwell.add_checkpoint_v1(p_tenant text, p_instance uuid, p_id uuid, p_data jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO stepwell.checkpoints (instance_id, created_at, id, tenant_id, data)
  SELECT i.id, stepwell.sw_now(), p_id, i.tenant_id, p_data FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
    AND NOT EXISTS (SELECT 1 FROM stepwell.checkpoints k WHERE k.instance_id = p_instance AND k.id = p_id);
  RETURN FOUND OR EXISTS (
    SELECT 1 FROM stepwell.task_instances i
    WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant));
END $$;

CREATE FUNCTION stepwell.list_checkpoints_v1(p_tenant text, p_instance uuid, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM stepwell.task_instances i
    WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)) THEN
    RETURN NULL;
  END IF;
  RETURN (
    SELECT coalesce(json_agg(json_build_object('id', n.id, 'instanceId', n.instance_id, 'data', n.data,
      'createdAt', stepwell.to_ms(n.created_at))), '[]')
    FROM (
      SELECT k.id, k.instance_id, k.data, k.created_at FROM stepwell.checkpoints k
      WHERE k.instance_id = p_instance ORDER BY k.created_at DESC, k.id DESC LIMIT p_limit
    ) n);
END $$;

-- The lock makes prunes of one instance follow each other: each looks at what the one before it has left.
CREATE FUNCTION stepwell.prune_checkpoints_v1(p_tenant text, p_instance uuid, p_keep bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_gone integer;
BEGIN
  PERFORM 1 FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant) FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  DELETE FROM stepwell.checkpoints k
  WHERE k.instance_id = p_instance AND (k.created_at, k.id) IN (
    SELECT o.created_at, o.id FROM stepwell.checkpoints o
    WHERE o.instance_id = p_instance ORDER BY o.created_at DESC, o.id DESC OFFSET p_keep);
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

CALL stepwell.protect_new();

-- The app role reads instances with what was injected into them.
GRANT EXECUTE ON FUNCTION stepwell.injected_blocks(uuid) TO stepwell_app;
