-- The change feed reads the audit rows of a tenant by (created_at, id).
CREATE INDEX audit_log_feed_idx ON stepwell.audit_log (tenant_id, created_at, id);

-- Everything that is committed later is stamped at or after this instant (RULINGS A34). A row is stamped by the clock after
-- its transaction began, so the oldest open transaction bounds what may still come; the clock is read before the look, so
-- that one which begins in between is later than both. It must run as the login role, which sees its own sessions, and in
-- a statement of its own, so that the rows are read under a later snapshot.
CREATE FUNCTION stepwell.change_horizon() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
BEGIN
  PERFORM pg_stat_clear_snapshot();
  RETURN (
    SELECT date_trunc('milliseconds', least(v_now, min(a.xact_start)))
    FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.xact_start IS NOT NULL AND a.pid <> pg_backend_pid()
      -- A vacuum writes no entries and may take hours.
      AND a.backend_type = 'client backend');
END $$;

CALL stepwell.protect_new();
GRANT EXECUTE ON FUNCTION stepwell.change_horizon() TO stepwell_app;
