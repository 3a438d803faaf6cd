-- Lists of instances in the order of creation, and by metadata. The indexes for the order of the last change are beside the
-- table, since bulk changes need them too.
CREATE INDEX task_instances_created_roots_idx ON stepwell.task_instances (tenant_id, state, created_at, id)
  INCLUDE (namespace) WHERE parent_instance_id IS NULL;
CREATE INDEX task_instances_created_children_idx ON stepwell.task_instances (tenant_id, state, created_at, id)
  INCLUDE (namespace) WHERE parent_instance_id IS NOT NULL;
-- Versions of a name, in whatever namespace.
CREATE INDEX sequences_name_idx ON stepwell.sequences (tenant_id, name, version);

-- Instances whose metadata contains an object, in no order; null when there are more than `p_max` in the whole table, so that
-- the caller walks a list instead. Containment may not use an index under a policy, which is why the engine looks here and
-- compares the tenant itself.
CREATE FUNCTION stepwell.instances_with_metadata_v1(p_tenant text, p_metadata jsonb, p_max integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_count bigint;
  v_ids json;
BEGIN
  SELECT count(*), coalesce(json_agg(m.id) FILTER (WHERE p_tenant IS NULL OR m.tenant_id = p_tenant), '[]')
  INTO v_count, v_ids
  FROM (
    SELECT i.id, i.tenant_id FROM stepwell.task_instances i
    WHERE i.metadata @> p_metadata AND i.metadata <> '{}'::jsonb
    LIMIT p_max + 1
  ) m;
  RETURN CASE WHEN v_count <= p_max THEN v_ids END;
END $$;

CALL stepwell.protect_new();
