-- The header Idempotency-Key (RULINGS B13, reliability.md 6): one row per key and tenant. The key itself is not kept, its
-- hash is. While a request is carried out there is no answer: `lease_until` says how long its caller may be taken for alive;
-- without it the key is free for the next attempt, under the same seed. Callers without a tenant have a space of their own.
CREATE TABLE stepwell.idempotency_keys (
  tenant_id text COLLATE "C" NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  seed uuid NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  answer_status integer,
  answer_type text,
  answer_body text,
  expires_at timestamptz NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key_hash),
  CONSTRAINT idempotency_keys_answer_check CHECK (answer_status IS NULL OR lease_until IS NULL)
) WITH (fillfactor = 80);

CREATE INDEX idempotency_keys_age_idx ON stepwell.idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_lease_idx ON stepwell.idempotency_keys (lease_until) WHERE lease_until IS NOT NULL;

-- What the calls of a request that is not answered yet have brought, each written in the transaction of its effect: a later
-- attempt of the same request is told the same and does nothing twice. `n` counts the calls of one name in one scope.
CREATE TABLE stepwell.idempotency_calls (
  seed uuid NOT NULL,
  scope text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  n integer NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  result json NOT NULL,
  CONSTRAINT idempotency_calls_pkey PRIMARY KEY (seed, scope, name, n)
);

-- Takes a key for a request, or says why not. A key whose time is over, and one that was given back by a request that got no
-- answer, may be taken by another request.
CREATE FUNCTION stepwell.reserve_key_v1(p_tenant text, p_key_hash text, p_fingerprint text, p_seed uuid, p_lease_ms bigint)
RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  k stepwell.idempotency_keys;
BEGIN
  LOOP
    INSERT INTO stepwell.idempotency_keys (tenant_id, key_hash, fingerprint, seed, attempt, lease_until, expires_at)
    VALUES (p_tenant, p_key_hash, p_fingerprint, p_seed, 1, v_now + p_lease_ms * interval '1 millisecond',
      v_now + interval '24 hours')
    ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO NOTHING;
    IF FOUND THEN
      RETURN json_build_object('status', 'taken', 'seed', p_seed, 'number', 1);
    END IF;
    SELECT * INTO k FROM stepwell.idempotency_keys r WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
  v_now := stepwell.sw_now();
  IF k.seed = p_seed AND k.answer_status IS NULL THEN
    RETURN json_build_object('status', 'taken', 'seed', k.seed, 'number', k.attempt);
  END IF;
  IF k.expires_at <= v_now
    OR (k.fingerprint <> p_fingerprint AND k.answer_status IS NULL AND k.lease_until IS NULL) THEN
    DELETE FROM stepwell.idempotency_calls c WHERE c.seed = k.seed;
    k.seed := p_seed;
    k.attempt := 0;
  ELSIF k.fingerprint <> p_fingerprint THEN
    RETURN json_build_object('status', 'mismatch');
  ELSIF k.answer_status IS NOT NULL THEN
    RETURN json_build_object('status', 'answered', 'answer', json_build_object('status', k.answer_status,
      'type', k.answer_type, 'body', k.answer_body));
  ELSIF k.lease_until > v_now THEN
    RETURN json_build_object('status', 'running');
  END IF;
  UPDATE stepwell.idempotency_keys r
  SET fingerprint = p_fingerprint, seed = k.seed, attempt = k.attempt + 1,
    lease_until = v_now + p_lease_ms * interval '1 millisecond', answer_status = NULL, answer_type = NULL,
    answer_body = NULL, expires_at = v_now + interval '24 hours'
  WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash;
  RETURN json_build_object('status', 'taken', 'seed', k.seed, 'number', k.attempt + 1);
END $$;

-- Keeps the answer of a request for a day; of two attempts the first to end counts. Null: the key is another request's by now.
CREATE FUNCTION stepwell.finish_key_v1(p_tenant text, p_key_hash text, p_seed uuid, p_status integer, p_type text, p_body text)
RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  UPDATE stepwell.idempotency_keys r
  SET answer_status = p_status, answer_type = p_type, answer_body = p_body, lease_until = NULL,
    expires_at = stepwell.sw_now() + interval '24 hours'
  WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash AND r.seed = p_seed AND r.answer_status IS NULL;
  IF FOUND THEN
    DELETE FROM stepwell.idempotency_calls c WHERE c.seed = p_seed;
  END IF;
  RETURN (
    SELECT json_build_object('status', r.answer_status, 'type', r.answer_type, 'body', r.answer_body)
    FROM stepwell.idempotency_keys r
    WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash AND r.seed = p_seed);
END $$;

-- An attempt without an answer that could be kept: the next one may begin at once.
CREATE FUNCTION stepwell.release_key_v1(p_tenant text, p_key_hash text, p_seed uuid, p_attempt integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  UPDATE stepwell.idempotency_keys r SET lease_until = NULL
  WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash AND r.seed = p_seed AND r.attempt = p_attempt
    AND r.answer_status IS NULL;
END $$;

-- What earlier attempts of a request have been told.
CREATE FUNCTION stepwell.recorded_calls_v1(p_seed uuid) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object('scope', c.scope, 'name', c.name, 'n', c.n, 'result', c.result)), '[]')
    FROM stepwell.idempotency_calls c WHERE c.seed = p_seed);
END $$;

-- Before an effect, in its transaction: the request must still be open. The lock is shared, since the calls of one request
-- may go side by side; whoever ends the request waits for them.
CREATE FUNCTION stepwell.begin_call_v1(p_tenant text, p_key_hash text, p_seed uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM 1 FROM stepwell.idempotency_keys r
  WHERE r.tenant_id = p_tenant AND r.key_hash = p_key_hash AND r.seed = p_seed AND r.answer_status IS NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the request of this key has ended' USING ERRCODE = 'SW012';
  END IF;
END $$;

-- After an effect, in its transaction: what it brought, and what was read before it. When another attempt was faster all of
-- it is undone.
CREATE FUNCTION stepwell.record_call_v1(p_tenant text, p_seed uuid, p_scope text, p_name text, p_n integer, p_result json,
  p_before json) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO stepwell.idempotency_calls (seed, scope, name, n, tenant_id, result)
  VALUES (p_seed, p_scope, p_name, p_n, p_tenant, p_result)
  ON CONFLICT ON CONSTRAINT idempotency_calls_pkey DO NOTHING;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another attempt has made this call' USING ERRCODE = 'SW011';
  END IF;
  INSERT INTO stepwell.idempotency_calls (seed, scope, name, n, tenant_id, result)
  SELECT p_seed, b.v ->> 'scope', b.v ->> 'name', (b.v ->> 'n')::integer, p_tenant, b.v -> 'result'
  FROM json_array_elements(p_before) AS b(v)
  ON CONFLICT ON CONSTRAINT idempotency_calls_pkey DO NOTHING;
  RETURN p_result;
END $$;

-- Keys whose time is over, with what is left of their calls.
CREATE FUNCTION stepwell.remove_old_keys(p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count integer;
BEGIN
  WITH old AS (
    SELECT r.tenant_id, r.key_hash, r.seed FROM stepwell.idempotency_keys r WHERE r.expires_at <= p_now
    ORDER BY r.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), calls AS (
    DELETE FROM stepwell.idempotency_calls c USING old WHERE c.seed = old.seed
  ), gone AS (
    DELETE FROM stepwell.idempotency_keys r USING old
    WHERE r.tenant_id = old.tenant_id AND r.key_hash = old.key_hash RETURNING 1
  )
  SELECT count(*) INTO v_count FROM gone;
  RETURN v_count;
END $$;

CALL stepwell.protect_new();
