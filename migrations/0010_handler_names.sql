-- Which handlers run in process somewhere (RULINGS B8): one row per name and build. Names belong to the installation, so
-- there is no tenant in them; the engine role alone sees the table, everybody else goes through the functions.
CREATE TABLE stepwell.handler_names (
  name text COLLATE "C" NOT NULL,
  build_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  last_seen_at timestamptz NOT NULL,
  CONSTRAINT handler_names_pkey PRIMARY KEY (name, build_id),
  CONSTRAINT handler_names_kind_check CHECK (kind IN ('pure', 'effect'))
) WITH (fillfactor = 50);

-- Workers are many and the names they serve are few: the names are found by steps through the index on them.
CREATE FUNCTION stepwell.live_handlers_v1(p_announced_ms bigint, p_polled_ms bigint) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_announced_since timestamptz := v_now - p_announced_ms * interval '1 millisecond';
  v_polled_since timestamptz := v_now - p_polled_ms * interval '1 millisecond';
BEGIN
  RETURN json_build_object(
    'announced', (
      SELECT coalesce(json_agg(a.name ORDER BY a.name), '[]')
      FROM (SELECT DISTINCT h.name FROM stepwell.handler_names h
        WHERE h.last_seen_at >= v_announced_since ORDER BY h.name LIMIT 10000) a),
    'polled', (
      WITH RECURSIVE served(name) AS (
        SELECT min(g.handler_name) FROM stepwell.worker_registry g
        UNION ALL
        SELECT (SELECT min(g.handler_name) FROM stepwell.worker_registry g WHERE g.handler_name > s.name)
        FROM served s WHERE s.name IS NOT NULL
      )
      SELECT coalesce(json_agg(p.name ORDER BY p.name), '[]')
      FROM (SELECT s.name FROM served s
        WHERE EXISTS (SELECT 1 FROM stepwell.worker_registry g
          WHERE g.handler_name = s.name AND g.last_seen_at >= v_polled_since)
        ORDER BY s.name LIMIT 10000) p));
END $$;

-- Rows that were written in the last seconds are left alone, so that many processes of one build cost few writes. The own
-- rows come first and in one order, and the rows of others are skipped while somebody holds them: nobody waits in a circle.
CREATE FUNCTION stepwell.announce_handlers_v1(
  p_build text, p_handlers jsonb, p_announced_ms bigint, p_polled_ms bigint
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
BEGIN
  INSERT INTO stepwell.handler_names AS h (name, build_id, kind, last_seen_at)
  SELECT a.name, p_build, a.kind, v_now
  FROM jsonb_to_recordset(p_handlers) AS a(name text, kind text)
  WHERE NOT EXISTS (
    SELECT 1 FROM stepwell.handler_names k
    WHERE k.name = a.name AND k.build_id = p_build AND k.kind = a.kind
      AND k.last_seen_at > v_now - interval '10 seconds' AND k.last_seen_at <= v_now)
  ORDER BY a.name
  ON CONFLICT ON CONSTRAINT handler_names_pkey DO UPDATE
  SET kind = excluded.kind, last_seen_at = excluded.last_seen_at;
  DELETE FROM stepwell.handler_names h
  WHERE (h.name, h.build_id) IN (
    SELECT o.name, o.build_id FROM stepwell.handler_names o
    WHERE o.last_seen_at < v_now - interval '1 day'
    LIMIT 1000
    FOR UPDATE SKIP LOCKED);
  RETURN stepwell.live_handlers_v1(p_announced_ms, p_polled_ms);
END $$;

CALL stepwell.protect_new();
