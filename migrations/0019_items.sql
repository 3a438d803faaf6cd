-- Reads of blocks that run many items side by side. Each goes by the pass of the item, so that what it costs does not
-- depend on how many items there are.

-- The live rows of a block in a pass and in the passes inside it, in all passes for the empty one. A pass is one range of
-- the index of live rows, because '/' is followed by '0'. The order asks for that index (all others would have to sort),
-- and its predicate is repeated because a plan for any block could not do without.
CREATE FUNCTION stepwell.rows_within(p_tenant text, p_instance uuid, p_block text, p_pass text)
RETURNS SETOF stepwell.block_outputs
LANGUAGE plpgsql STABLE ROWS 4
SET enable_sort = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF p_pass = '' THEN
    RETURN QUERY
    SELECT o.* FROM stepwell.block_outputs o
    WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant AND o.block_id = p_block AND o.superseded_by IS NULL;
  ELSE
    RETURN QUERY
    SELECT o.* FROM stepwell.block_outputs o
    WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant AND o.block_id = p_block
      AND o.iteration >= p_pass AND o.iteration < p_pass || '0'
      AND (o.iteration = p_pass OR starts_with(o.iteration, p_pass || '/'))
      AND o.superseded_by IS NULL AND o.block_id <> '_interceptor:on_signal'
    ORDER BY o.iteration;
  END IF;
END $$;

-- The latest visible row per block as one pass sees it; p_wanted is a list of [pass, block].
CREATE FUNCTION stepwell.read_outputs_within_v1(p_tenant text, p_instance uuid, p_wanted jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_array(w.pass, w.block_id, l.output)), '[]')
    FROM (
      SELECT e.v ->> 0 AS pass, e.v ->> 1 AS block_id FROM jsonb_array_elements(p_wanted) AS e(v)
    ) w
    CROSS JOIN LATERAL (
      SELECT o.output FROM stepwell.rows_within(p_tenant, p_instance, w.block_id, w.pass) o
      WHERE o.kind NOT IN ('node', 'retry', 'interceptor', 'sla')
      ORDER BY o.rev DESC, o.ordinal DESC LIMIT 1
    ) l);
END $$;

-- Values whose keys begin with p_prefix, from the key p_from on, in the order of the keys.
CREATE FUNCTION stepwell.read_values_v1(p_tenant text, p_instance uuid, p_prefix text, p_from text, p_count integer)
RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_array(p.key, p.data) ORDER BY p.key), '[]')
    FROM (
      SELECT s.key, s.data FROM stepwell.externalized_state s
      WHERE s.instance_id = p_instance AND s.tenant_id = p_tenant AND s.key >= p_from COLLATE "C"
        AND s.first_index = 0 AND starts_with(s.key, p_prefix)
        -- Keys end in digits, and ':' follows them.
        AND s.key < (p_prefix || ':') COLLATE "C"
      ORDER BY s.key LIMIT p_count
    ) p);
END $$;

-- What the items of a block have put out at last, one entry per item: {"b": block, "o": output}, {"e": error} for one that
-- failed, {} for one that left nothing. p_blocks are the blocks that may speak for an item, in document order; the last one that has
-- a result does. p_start is the path of a pass without its number, p_failed the beginning of the keys of failed items.
CREATE FUNCTION stepwell.read_collected_v1(p_tenant text, p_instance uuid, p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(
      CASE WHEN n.failed IS NOT NULL THEN json_build_object('e', n.failed -> 'error')
        WHEN l.output IS NOT NULL THEN json_build_object('b', l.block_id, 'o', l.output)
        ELSE '{}' END ORDER BY n.i), '[]')
    FROM (
      SELECT g.i, (p ->> 'start') || g.i::text AS pass, (
        SELECT s.data FROM stepwell.externalized_state s
        WHERE s.instance_id = p_instance AND s.tenant_id = p_tenant AND s.first_index = 0
          AND s.key = (p ->> 'failed') || lpad(g.i::text, 6, '0')) AS failed
      FROM generate_series((p ->> 'from')::integer, (p ->> 'from')::integer + (p ->> 'count')::integer - 1) AS g(i)
      OFFSET 0
    ) n
    LEFT JOIN LATERAL (
      SELECT o.block_id, o.output
      FROM jsonb_array_elements_text(p -> 'blocks') WITH ORDINALITY AS b(block_id, position)
      CROSS JOIN LATERAL stepwell.rows_within(p_tenant, p_instance, b.block_id, n.pass) o
      WHERE o.kind IN ('result', 'escalation')
      ORDER BY b.position DESC, o.rev DESC, o.ordinal DESC LIMIT 1
    ) l ON n.failed IS NULL);
END $$;

CALL stepwell.protect_new();

-- The tree reads them as well.
GRANT EXECUTE ON FUNCTION stepwell.rows_within(text, uuid, text, text) TO stepwell_app;
