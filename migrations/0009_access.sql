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

-- Called at the end of each migration: what is new since the last call gets its policies, grants and owner. A table with a
-- tenant column is read by the app role within its tenant; one without is the engine's alone. A SECURITY DEFINER function
-- is a hot function and belongs to the engine role; nobody but the engine may call the parts it is made of.
CREATE PROCEDURE stepwell.protect_new()
LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  FOR r IN
    SELECT c.relname AS name, EXISTS (
        SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS of_tenants
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'stepwell' AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND c.relname <> 'schema_migrations'
  LOOP
    EXECUTE format('ALTER TABLE stepwell.%I ENABLE ROW LEVEL SECURITY', r.name);
    EXECUTE format('ALTER TABLE stepwell.%I FORCE ROW LEVEL SECURITY', r.name);
    EXECUTE format(
      'CREATE POLICY engine_all_tenants ON stepwell.%I TO stepwell_engine USING (true) WITH CHECK (true)', r.name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON stepwell.%I TO stepwell_engine', r.name);
    IF r.of_tenants THEN
      EXECUTE format(
        'CREATE POLICY tenant_isolation ON stepwell.%I TO stepwell_app
          USING (tenant_id = NULLIF(current_setting(''stepwell.tenant'', true), ''''))
          WITH CHECK (tenant_id = NULLIF(current_setting(''stepwell.tenant'', true), ''''))', r.name);
      EXECUTE format('GRANT SELECT ON stepwell.%I TO stepwell_app', r.name);
    END IF;
  END LOOP;
  GRANT CREATE ON SCHEMA stepwell TO stepwell_engine;
  FOR r IN
    SELECT p.oid::regprocedure AS signature, p.prosecdef FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'stepwell' AND p.prokind = 'f' AND p.proacl IS NULL
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', r.signature);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_engine', r.signature);
    IF r.prosecdef THEN
      -- In this order: afterwards the function is the engine's to give.
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_app', r.signature);
      EXECUTE format('ALTER FUNCTION %s OWNER TO stepwell_engine', r.signature);
    END IF;
  END LOOP;
  REVOKE CREATE ON SCHEMA stepwell FROM stepwell_engine;
END $$;
REVOKE ALL ON PROCEDURE stepwell.protect_new() FROM PUBLIC;

CALL stepwell.protect_new();

-- Workers that polled for no tenant serve all of them.
CREATE POLICY workers_of_no_tenant ON stepwell.worker_registry FOR SELECT TO stepwell_app USING (tenant_id = '');

-- The app role reads, and writes the catalog only; instances change through the functions.
GRANT INSERT, UPDATE, DELETE ON stepwell.sequences, stepwell.triggers TO stepwell_app;
GRANT SELECT ON stepwell.schema_migrations TO stepwell_engine, stepwell_app;

-- Parts that reads of the app role are made of.
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure AS signature FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'stepwell' AND p.proname IN ('sw_now', 'to_ms', 'from_ms', 'is_terminal', 'instance_json',
      'instance_view', 'instance_views', 'within_bytes', 'task_json', 'inbox_json', 'frames_json')
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO stepwell_app', f.signature);
  END LOOP;
END $$;
