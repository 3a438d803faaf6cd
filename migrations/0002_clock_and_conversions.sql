-- The clock of every lease and due comparison: database time in whole milliseconds, so that an instant survives the
-- way to a process and back unchanged. Tests replace this function; nothing in production can move it.
CREATE FUNCTION stepwell.sw_now() RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN date_trunc('milliseconds', clock_timestamp());

-- Epoch milliseconds of an instant. STABLE because extract() on timestamptz is; that keeps it inlined.
CREATE FUNCTION stepwell.to_ms(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE
RETURN (extract(epoch FROM at) * 1000)::bigint;

CREATE FUNCTION stepwell.from_ms(ms bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN to_timestamp(ms::double precision / 1000);

-- A UUID of version 7 at this instant; for rows that an accepting function writes on its own.
CREATE FUNCTION stepwell.uuid_v7(at timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE
RETURN encode(
  set_bit(
    set_bit(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1),
    53, 1),
  'hex')::uuid;

CREATE FUNCTION stepwell.is_terminal(state text) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN state IN ('completed', 'failed', 'cancelled');

-- Bytes of a value as canonical JSON: the text of jsonb has one space after each colon and each comma.
CREATE FUNCTION stepwell.canonical_bytes(value jsonb) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN octet_length(value::text) - (
    SELECT coalesce(sum(
      CASE jsonb_typeof(part)
        WHEN 'array' THEN greatest(jsonb_array_length(part) - 1, 0)
        ELSE greatest(2 * (SELECT count(*) FROM jsonb_object_keys(part)) - 1, 0)
      END), 0)
    FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "object" || @.type() == "array")') AS part
  );
END $$;
