-- Plugins by name (http-api.md 18). They are kept for what will run them; nothing does yet. The empty tenant is that of an
-- administrator who named none.
CREATE TABLE stepwell.plugins (
  tenant_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  plugin_type text NOT NULL,
  source text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  config jsonb NOT NULL DEFAULT 'null',
  description text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT plugins_pkey PRIMARY KEY (tenant_id, name),
  CONSTRAINT plugins_type_check CHECK (plugin_type IN ('wasm', 'grpc'))
);
-- For administrators, who see all tenants.
CREATE INDEX plugins_name_idx ON stepwell.plugins (name, tenant_id);

CALL stepwell.protect_new();

GRANT INSERT, UPDATE, DELETE ON stepwell.plugins TO stepwell_app;
