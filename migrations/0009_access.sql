-- Who may do what (RULINGS A39). Two roles without login: the hot functions run as stepwell_engine, which sees all
-- tenants and owns no table; everything that acts for one tenant runs as stepwell_app, which sees the tenant named in
-- stepwell.tenant and nothing when it is not set. The owner of the tables is held to the policies too (FORCE).

DO $$
BEGIN
  -- Roles belong to the whole server: another database of it may be migrated at this very moment.
  FOR attempt IN 1..20 LOOP
    BEGIN
      IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'stepwell_engine') THEN
        CREATE ROLE stepwell_engine NOLOGIN;
      END IF;
      IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'stepwell_app') THEN
        CREATE ROLE stepwell_app NOLOGIN;
      END IF;
      -- Where the server can tell the two apart (16), the login may become the engine but does not see with its eyes.
      IF current_setting('server_version_num')::integer >= 160000 THEN
        IF NOT pg_has_role(current_user, 'stepwell_engine', 'SET') THEN
          EXECUTE format('GRANT stepwell_engine TO %I WITH INHERIT FALSE, SET TRUE', current_user);
        END IF;
      ELSIF NOT pg_has_role(current_user, 'stepwell_engine', 'MEMBER') THEN
        EXECUTE format('GRANT stepwell_engine TO %I', current_user);
      END IF;
      IF NOT pg_has_role(current_user, 'stepwell_app', 'USAGE') THEN
        EXECUTE format('GRANT stepwell_app TO %I', current_user);
      END IF;
      EXIT;
    EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN
      PERFORM pg_sleep(0.05);
    END;
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA stepwell TO stepwell_engine, stepwell_app;

DO $$
DECLARE
  t text;
BEGIN
  FOR t IN
    SELECT c.relname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'stepwell' AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
  LOOP
    EXECUTE format('ALTER TABLE stepwell.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE stepwell.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON stepwell.%I TO stepwell_app
        USING (tenant_id = NULLIF(current_setting(''stepwell.tenant'', true), ''''))
        WITH CHECK (tenant_id = NULLIF(current_setting(''stepwell.tenant'', true), ''''))', t);
    EXECUTE format(
      'CREATE POLICY engine_all_tenants ON stepwell.%I TO stepwell_engine USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON stepwell.%I TO stepwell_engine', t);
  END LOOP;
END $$;

-- Workers that polled for no tenant serve all of them.
CREATE POLICY workers_of_no_tenant ON stepwell.worker_registry FOR SELECT TO stepwell_app USING (tenant_id = '');

-- The app role reads, and writes the catalog only; instances change through the functions.
GRANT SELECT ON ALL TABLES IN SCHEMA stepwell TO stepwell_app;
GRANT INSERT, UPDATE, DELETE ON stepwell.sequences, stepwell.triggers TO stepwell_app;
GRANT SELECT ON stepwell.schema_migrations TO stepwell_engine, stepwell_app;

-- Hot functions belong to the engine role, and nobody else may call the parts they are made of.
GRANT CREATE ON SCHEMA stepwell TO stepwell_engine;
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure AS signature, p.prosecdef, p.proname FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'stepwell'
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f.signature);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_engine', f.signature);
    IF f.prosecdef THEN
      -- In this order: afterwards the function is the engine's to give.
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_app', f.signature);
      EXECUTE format('ALTER FUNCTION %s OWNER TO stepwell_engine', f.signature);
    ELSIF f.proname IN ('sw_now', 'to_ms', 'from_ms', 'is_terminal', 'instance_json', 'instance_view',
      'task_json', 'inbox_json', 'frames_json') THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_app', f.signature);
    END IF;
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA stepwell FROM stepwell_engine;
