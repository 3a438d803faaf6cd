-- Keys of tenants (http-api.md 24). Only the hash of a secret is kept: a key of 256 random bits needs no slow hash.
CREATE TABLE stepwell.api_keys (
  id text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  capabilities text[] NOT NULL,
  secret_hash text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash)
);
CREATE INDEX api_keys_tenant_idx ON stepwell.api_keys (tenant_id, created_at);

CREATE FUNCTION stepwell.api_key_json(k stepwell.api_keys) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('id', k.id, 'tenantId', k.tenant_id, 'name', k.name, 'capabilities', to_json(k.capabilities),
  'createdAt', stepwell.to_ms(k.created_at), 'expiresAt', stepwell.to_ms(k.expires_at),
  'lastUsedAt', stepwell.to_ms(k.last_used_at), 'revoked', k.revoked_at IS NOT NULL);

CREATE FUNCTION stepwell.insert_api_key_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  k stepwell.api_keys;
BEGIN
  INSERT INTO stepwell.api_keys (id, tenant_id, name, capabilities, secret_hash, created_at, expires_at)
  VALUES (p ->> 'id', p ->> 'tenantId', p ->> 'name', ARRAY(SELECT jsonb_array_elements_text(p -> 'capabilities')),
    p ->> 'secretHash', stepwell.sw_now(), stepwell.from_ms((p ->> 'expiresAt')::bigint))
  RETURNING * INTO k;
  RETURN stepwell.api_key_json(k);
END $$;

-- Called with every request that shows a key: a row that was used within the last minute is not written again.
CREATE FUNCTION stepwell.use_api_key_v1(p_secret_hash text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  k stepwell.api_keys;
BEGIN
  SELECT * INTO k FROM stepwell.api_keys a
  WHERE a.secret_hash = p_secret_hash AND a.revoked_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > v_now);
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF k.last_used_at IS NULL OR k.last_used_at < v_now - interval '1 minute' THEN
    UPDATE stepwell.api_keys a SET last_used_at = v_now WHERE a.id = k.id;
    k.last_used_at := v_now;
  END IF;
  RETURN stepwell.api_key_json(k);
END $$;

CREATE FUNCTION stepwell.list_api_keys_v1(p_tenant text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(stepwell.api_key_json(k) ORDER BY k.created_at DESC, k.id DESC), '[]')
    FROM (
      SELECT a.* FROM stepwell.api_keys a WHERE a.tenant_id = p_tenant ORDER BY a.created_at DESC, a.id DESC LIMIT 1000
    ) l
    JOIN stepwell.api_keys k ON k.id = l.id);
END $$;

CREATE FUNCTION stepwell.revoke_api_key_v1(p_id text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  UPDATE stepwell.api_keys a SET revoked_at = stepwell.sw_now() WHERE a.id = p_id AND a.revoked_at IS NULL;
  RETURN FOUND;
END $$;

CALL stepwell.protect_new();
