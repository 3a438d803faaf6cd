-- Going back in a run (sequences.md 20.1 to 20.3): rows leave the lists and stay for the timeline, whatever block and pass the
-- run goes back to; a fork copies what stays to an instance of its own.

-- All rows of an instance, hidden and superseded ones too, oldest first. Values are there for kinds that say how far the run
-- is; results may be large and are not needed. A row is an array, so that the names are not repeated a hundred thousand times.
CREATE FUNCTION stepwell.history_json(p_tenant text, p_instance uuid) RETURNS json
LANGUAGE sql STABLE
RETURN (
  SELECT coalesce(json_agg(json_build_array(
    o.id, o.block_id, o.iteration, o.kind, o.attempt, stepwell.to_ms(o.started_at), o.run_no, o.rev, o.ordinal,
    stepwell.to_ms(o.created_at), o.superseded_by,
    CASE WHEN o.kind IN ('node', 'counter', 'variant') THEN o.output END) ORDER BY o.rev, o.ordinal), '[]')
  FROM stepwell.block_outputs o
  WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant);

-- What a commit that goes back does besides its new run: called by write_more. Rows are named one by one, by their place:
-- what stays and what goes follows from the structure of the run and not from ids, kinds or times.
CREATE FUNCTION stepwell.go_back(p_parts jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  s record;
BEGIN
  FOR r IN
    SELECT t.tenant_id, t.instance_id, t.run_no, t.at, p.v
    FROM jsonb_array_elements(p_parts) AS p(v)
    JOIN unnest(a) AS t ON t.i = (p.v ->> 'i')::integer
    WHERE t.verdict = 'ok'
  LOOP
    UPDATE stepwell.block_outputs o SET superseded_by = r.run_no
    FROM jsonb_array_elements(r.v -> 'rows') AS x(v)
    WHERE o.instance_id = r.instance_id AND o.tenant_id = r.tenant_id AND o.superseded_by IS NULL
      AND o.block_id = x.v ->> 0 AND o.rev = (x.v ->> 1)::bigint AND o.ordinal = (x.v ->> 2)::integer;
    DELETE FROM stepwell.kv k
    WHERE k.instance_id = r.instance_id AND k.tenant_id = r.tenant_id AND starts_with(k.key, '__cache__:');
    FOR s IN SELECT x.v FROM jsonb_array_elements(r.v -> 'signals') WITH ORDINALITY AS x(v, position) ORDER BY x.position LOOP
      PERFORM stepwell.accept_fact(r.tenant_id, r.instance_id, (s.v ->> 'id')::uuid, 'signal', s.v ->> 'signalType',
        s.v -> 'payload', r.at);
    END LOOP;
  END LOOP;
END $$;

CALL stepwell.protect_new();

-- A part that reads of the app role are made of.
GRANT EXECUTE ON FUNCTION stepwell.history_json(text, uuid) TO stepwell_app;
