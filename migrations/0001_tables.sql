-- The tables of Stepwell. Everything lives in the schema `stepwell`, so that it can share a database with an application.
--
-- Keys that are compared or ordered carry COLLATE "C": the order of tenants and of claims must not depend on the locale
-- of the server, and byte comparison is faster. Instants are timestamptz with whole milliseconds (see sw_now).
-- Hot tables have no foreign key to the instance: the key check would lock the instance row and hide it from claims.

-- Words and small numbers are domains, and the rule below is a function: a check constraint would be parsed and planned
-- anew by every update of a row, which costs a step more than its own update does.
CREATE DOMAIN stepwell.instance_state AS text
  CONSTRAINT instance_state_check CHECK (
    VALUE IN ('scheduled', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled')
  );
CREATE DOMAIN stepwell.priority AS smallint
  CONSTRAINT priority_check CHECK (VALUE BETWEEN 0 AND 3);
CREATE DOMAIN stepwell.row_kind AS text COLLATE "C"
  CONSTRAINT row_kind_check CHECK (
    VALUE IN ('result', 'retry', 'error', 'breach', 'gate', 'escalation', 'counter', 'variant', 'interceptor', 'sla', 'node', 'hook',
      'hook_error')
  );

-- Promise 2: no commit leaves an instance behind that nothing will ever look at again (RULINGS A27). A lease counts
-- because its end is watched; an operator may hold one on a terminal instance. Cleanup hooks keep a terminal instance
-- claimable until the last of them is recorded ([HOOK-4]).
CREATE FUNCTION stepwell.is_never_stuck(
  state text, due_at timestamptz, lease_until timestamptz, lease_token uuid, open_waits integer, hooks boolean
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (lease_until IS NULL) = (lease_token IS NULL) AND CASE
    WHEN state IN ('completed', 'failed', 'cancelled') THEN
      CASE WHEN hooks THEN due_at IS NOT NULL OR lease_until IS NOT NULL OR open_waits > 0
        ELSE due_at IS NULL AND open_waits = 0 END
    WHEN lease_until IS NOT NULL THEN true
    WHEN state IN ('scheduled', 'running') THEN due_at IS NOT NULL
    WHEN state = 'waiting' THEN due_at IS NOT NULL OR open_waits > 0
    ELSE true
  END;
END $$;

CREATE TABLE stepwell.sequences (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  status text NOT NULL,
  deprecated boolean NOT NULL DEFAULT false,
  definition jsonb NOT NULL,
  content_hash text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT sequences_pkey PRIMARY KEY (id),
  CONSTRAINT sequences_version_key UNIQUE (tenant_id, namespace, name, version),
  CONSTRAINT sequences_status_check CHECK (status IN ('draft', 'staging', 'production', 'unpublished'))
);

-- What deployments have published last under a name (decision 0019). The row outlives the versions.
CREATE TABLE stepwell.deployed_sequences (
  tenant_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  deployed_at timestamptz NOT NULL,
  content_hash text NOT NULL,
  CONSTRAINT deployed_sequences_pkey PRIMARY KEY (tenant_id, namespace, name)
);

-- One row per execution. Half of a page is kept free: one commit may update all its rows, and each must find room for its
-- new version on the same page to stay HOT. The order of the columns matters: what a step changes stands at the end, so that the common
-- prefix of the old and the new row version stays out of the write-ahead log.
CREATE TABLE stepwell.task_instances (
  id uuid NOT NULL,
  sequence_id uuid NOT NULL,
  run_id uuid NOT NULL,
  parent_instance_id uuid,
  created_at timestamptz NOT NULL,
  parent_entry integer,
  depth integer NOT NULL DEFAULT 0,
  max_concurrency integer,
  priority stepwell.priority NOT NULL,
  dry_run boolean NOT NULL DEFAULT false,
  dry_run_auto_approve boolean NOT NULL DEFAULT false,
  dry_run_real_time boolean NOT NULL DEFAULT false,
  tenant_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  timezone text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  config jsonb NOT NULL DEFAULT '{}',
  audit jsonb NOT NULL DEFAULT '[]',
  parent_block_id text COLLATE "C",
  parent_iteration text COLLATE "C",
  session_id text,
  concurrency_key text COLLATE "C",
  idempotency_key text COLLATE "C",
  budget jsonb,
  -- What of the budget is used, besides steps and time; null for most instances.
  usage jsonb,
  -- Changed by claims, facts and settles: these updates may be cold.
  state stepwell.instance_state NOT NULL,
  next_fire_at timestamptz,
  due_at timestamptz,
  lease_until timestamptz,
  lease_token uuid,
  lease_owner text,
  epoch bigint NOT NULL DEFAULT 0,
  open_waits integer NOT NULL DEFAULT 0,
  wake_seq bigint NOT NULL DEFAULT 0,
  seen_seq bigint NOT NULL DEFAULT 0,
  cancel_seq bigint NOT NULL DEFAULT 0,
  cancel_requested_at timestamptz,
  updated_at timestamptz NOT NULL,
  failure jsonb,
  -- Cleanup hooks that are not recorded yet (18.2); null for nearly all instances.
  hooks_pending jsonb,
  gate_opened_at bigint,
  -- Changed by each step: an index that mentions one of these would make the update cold. recovery_count, company and
  -- suspect change only after a crash.
  data jsonb NOT NULL DEFAULT '{}',
  started_at timestamptz,
  run_no integer NOT NULL DEFAULT 1,
  recovery_count integer NOT NULL DEFAULT 0,
  claims_without_progress integer NOT NULL DEFAULT 0,
  -- How many turns its process promised to have at most while this one has the lease; 1: no other; 0: no turn, an operator.
  claimed_among integer NOT NULL DEFAULT 0,
  waits_for_slot boolean NOT NULL DEFAULT false,
  suspect boolean NOT NULL DEFAULT false,
  -- It lost a lease and has not ended a turn since: at most so many of its kind may be in one process; 1: nothing else.
  company integer,
  granted boolean NOT NULL DEFAULT false,
  has_history boolean NOT NULL DEFAULT false,
  has_children boolean NOT NULL DEFAULT false,
  committed_token uuid,
  rev bigint NOT NULL DEFAULT 0,
  total_steps bigint NOT NULL DEFAULT 0,
  progress_at timestamptz NOT NULL,
  -- [block, started_at, attempt when it is not 0]
  current_step jsonb,
  root_frame jsonb,
  -- {"accepted": n, "applied": m}: changes of what the run is made of (20.4, 20.5); null when there never was one.
  shape jsonb,
  CONSTRAINT task_instances_pkey PRIMARY KEY (id),
  CONSTRAINT task_instances_never_stuck_check CHECK (
    stepwell.is_never_stuck(state, due_at, lease_until, lease_token, open_waits, hooks_pending IS NOT NULL)
  )
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Claims walk one range of this index per priority and tenant; no claim sorts the backlog.
CREATE INDEX task_instances_due_idx ON stepwell.task_instances (priority, tenant_id, due_at, id)
  WHERE lease_until IS NULL AND due_at IS NOT NULL;
-- The next instant at which anything is due, and whether anything is due at all.
CREATE INDEX task_instances_wake_idx ON stepwell.task_instances (due_at)
  WHERE lease_until IS NULL AND due_at IS NOT NULL;
-- Instances that lost a lease and may only be claimed in small company; nearly always empty.
CREATE INDEX task_instances_suspect_idx ON stepwell.task_instances (priority, due_at, id)
  WHERE company IS NOT NULL AND lease_until IS NULL AND due_at IS NOT NULL;
CREATE INDEX task_instances_lease_idx ON stepwell.task_instances (lease_until, lease_token)
  WHERE lease_until IS NOT NULL;
-- Lists by last change. `updated_at` moves with the state, the due time or a fact, which are in indexes anyway, and never
-- with a step (RULINGS A29). A row is in one of the two, so that a list of roots does not walk over their children. The
-- namespace is beside the key, so that a walk for a rare one stays in the index.
CREATE INDEX task_instances_roots_idx ON stepwell.task_instances (tenant_id, state, updated_at, id) INCLUDE (namespace)
  WHERE parent_instance_id IS NULL;
CREATE INDEX task_instances_children_idx ON stepwell.task_instances (tenant_id, state, updated_at, id) INCLUDE (namespace)
  WHERE parent_instance_id IS NOT NULL;
CREATE INDEX task_instances_sequence_idx ON stepwell.task_instances (sequence_id, state, updated_at, id);
CREATE INDEX task_instances_metadata_idx ON stepwell.task_instances USING gin (metadata jsonb_path_ops)
  WHERE metadata <> '{}'::jsonb;
CREATE INDEX task_instances_gate_idx ON stepwell.task_instances (gate_opened_at)
  WHERE gate_opened_at IS NOT NULL;
CREATE INDEX task_instances_slots_idx ON stepwell.task_instances (tenant_id, concurrency_key, state, updated_at, id)
  WHERE concurrency_key IS NOT NULL;
CREATE UNIQUE INDEX task_instances_child_key
  ON stepwell.task_instances (parent_instance_id, parent_block_id, parent_iteration, parent_entry)
  WHERE parent_instance_id IS NOT NULL;
-- Dry runs have a key space of their own.
CREATE UNIQUE INDEX task_instances_idempotency_key
  ON stepwell.task_instances (tenant_id, dry_run, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- The start input as it came, beside the instance so that no row version of a step has to carry it along.
CREATE TABLE stepwell.start_inputs (
  instance_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  input jsonb NOT NULL,
  CONSTRAINT start_inputs_pkey PRIMARY KEY (instance_id)
);

-- Open frames but the root one, which is a column of the instance. A row is deleted when its list is closed.
CREATE TABLE stepwell.execution_tree (
  instance_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  block_id text COLLATE "C" NOT NULL,
  branch_index integer NOT NULL DEFAULT -1,
  iteration text COLLATE "C" NOT NULL,
  block_type text NOT NULL,
  state text NOT NULL,
  started_at timestamptz NOT NULL,
  gate_opened_at bigint,
  frame jsonb NOT NULL,
  CONSTRAINT execution_tree_pkey PRIMARY KEY (instance_id, block_id, branch_index, iteration)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX execution_tree_gate_idx ON stepwell.execution_tree (gate_opened_at)
  WHERE gate_opened_at IS NOT NULL;

-- Recorded results and decisions, append-only. `superseded_by` takes a row out of the lists without deleting it.
CREATE TABLE stepwell.block_outputs (
  id uuid NOT NULL,
  instance_id uuid NOT NULL,
  rev bigint NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  run_no integer NOT NULL,
  ordinal integer NOT NULL,
  attempt integer NOT NULL,
  output_size integer NOT NULL,
  superseded_by integer,
  tenant_id text COLLATE "C" NOT NULL,
  block_id text COLLATE "C" NOT NULL,
  iteration text COLLATE "C" NOT NULL,
  kind stepwell.row_kind NOT NULL,
  output jsonb NOT NULL,
  -- Also the path to the latest rows of a block, however many came before.
  CONSTRAINT block_outputs_pkey PRIMARY KEY (instance_id, block_id, rev, ordinal)
) PARTITION BY HASH (instance_id);

-- Of the live rows one per attempt and kind, and one result whatever the attempt. A run has a trace of each signal.
CREATE UNIQUE INDEX block_outputs_identity_key
  ON stepwell.block_outputs (instance_id, block_id, iteration, run_no, kind, (CASE WHEN kind = 'result' THEN -1 ELSE attempt END))
  WHERE superseded_by IS NULL AND block_id <> '_interceptor:on_signal';

DO $$
BEGIN
  FOR n IN 0..15 LOOP
    EXECUTE format(
      'CREATE TABLE stepwell.block_outputs_p%s PARTITION OF stepwell.block_outputs FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
      n, n);
  END LOOP;
END $$;

-- Facts from outside, numbered per instance under its row lock.
CREATE TABLE stepwell.signal_inbox (
  instance_id uuid NOT NULL,
  seq bigint NOT NULL,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  signal_type text,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  delivered boolean NOT NULL DEFAULT false,
  delivered_at timestamptz,
  disposition text,
  CONSTRAINT signal_inbox_pkey PRIMARY KEY (instance_id, seq),
  CONSTRAINT signal_inbox_id_key UNIQUE (instance_id, id),
  CONSTRAINT signal_inbox_kind_check CHECK (kind IN ('signal', 'task', 'child', 'context', 'event', 'shape', 'wake')),
  CONSTRAINT signal_inbox_type_check CHECK ((kind = 'signal') = (signal_type IS NOT NULL)),
  CONSTRAINT signal_inbox_disposition_check CHECK (disposition IN ('applied', 'no_effect', 'rejected', 'expired'))
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX signal_inbox_pending_idx ON stepwell.signal_inbox (instance_id, seq) WHERE NOT delivered;

CREATE TABLE stepwell.worker_tasks (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  block_id text COLLATE "C" NOT NULL,
  iteration text COLLATE "C" NOT NULL,
  handler_name text COLLATE "C" NOT NULL,
  queue_name text COLLATE "C",
  params jsonb NOT NULL,
  context jsonb NOT NULL,
  attempt integer NOT NULL,
  timeout_ms bigint,
  idempotency_key text NOT NULL,
  -- Of a cleanup hook: it outlives the end of its instance ([HOOK-2]).
  of_hook boolean NOT NULL DEFAULT false,
  -- Is not offered again when its worker falls silent ([CON-6], RULINGS A20).
  at_most_once boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'pending',
  closed_by text,
  worker_id text COLLATE "C",
  claim_epoch integer NOT NULL DEFAULT 0,
  claimed_at timestamptz,
  heartbeat_at timestamptz,
  checkpoint jsonb,
  checkpoint_seq integer NOT NULL DEFAULT 0,
  output jsonb,
  error_message text,
  error_retryable boolean,
  error_code text,
  error_details jsonb,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  CONSTRAINT worker_tasks_pkey PRIMARY KEY (id),
  CONSTRAINT worker_tasks_state_check CHECK (state IN ('pending', 'claimed', 'completed', 'failed')),
  CONSTRAINT worker_tasks_closed_by_check CHECK (closed_by IN ('cancelled', 'timed_out', 'silent')),
  CONSTRAINT worker_tasks_claim_check CHECK (state <> 'claimed' OR worker_id IS NOT NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE UNIQUE INDEX worker_tasks_open_key ON stepwell.worker_tasks (instance_id, block_id, iteration)
  WHERE state IN ('pending', 'claimed');
CREATE INDEX worker_tasks_pending_idx ON stepwell.worker_tasks (handler_name, tenant_id, created_at, id)
  WHERE state = 'pending';
CREATE INDEX worker_tasks_claimed_idx ON stepwell.worker_tasks (heartbeat_at) WHERE state = 'claimed';
CREATE INDEX worker_tasks_instance_idx ON stepwell.worker_tasks (instance_id);
CREATE INDEX worker_tasks_listing_idx ON stepwell.worker_tasks (tenant_id, created_at, id);

CREATE TABLE stepwell.worker_task_events (
  task_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  claim_epoch integer NOT NULL,
  worker_id text,
  event text NOT NULL,
  reason text,
  created_at timestamptz NOT NULL,
  CONSTRAINT worker_task_events_pkey PRIMARY KEY (task_id, ordinal),
  CONSTRAINT worker_task_events_event_check CHECK (
    event IN ('claimed', 'reclaimed', 'completed', 'failed', 'timed_out', 'cancelled', 'stale_mutation_rejected')
  )
);

CREATE INDEX worker_task_events_instance_idx ON stepwell.worker_task_events (instance_id);

-- Who polled for what, one row per worker and handler. A poll without a tenant (an administrator's) is the row of the
-- empty tenant.
CREATE TABLE stepwell.worker_registry (
  tenant_id text COLLATE "C" NOT NULL,
  worker_id text COLLATE "C" NOT NULL,
  handler_name text COLLATE "C" NOT NULL,
  queues text[] NOT NULL DEFAULT '{}',
  version text,
  registered_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  CONSTRAINT worker_registry_pkey PRIMARY KEY (tenant_id, worker_id, handler_name)
) WITH (fillfactor = 70);

CREATE INDEX worker_registry_handler_idx ON stepwell.worker_registry (handler_name, last_seen_at);

-- Values stored aside. A list is cut into pieces, so that reading some of its elements does not load all of them.
CREATE TABLE stepwell.externalized_state (
  instance_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  first_index integer NOT NULL DEFAULT 0,
  tenant_id text COLLATE "C" NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT externalized_state_pkey PRIMARY KEY (instance_id, key, first_index)
);

CREATE TABLE stepwell.kv (
  instance_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT kv_pkey PRIMARY KEY (instance_id, key)
);

-- `ordinal` gives the order of acceptance per instance: writers hold the instance row, so a later change has a higher one.
CREATE TABLE stepwell.audit_log (
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL,
  event_type text NOT NULL,
  from_state text,
  to_state text,
  block_id text,
  details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (tenant_id, instance_id, ordinal)
) PARTITION BY HASH (tenant_id);

DO $$
BEGIN
  FOR n IN 0..15 LOOP
    EXECUTE format(
      'CREATE TABLE stepwell.audit_log_p%s PARTITION OF stepwell.audit_log FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
      n, n);
  END LOOP;
END $$;

CREATE TABLE stepwell.journal (
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL,
  kind text NOT NULL,
  actor text,
  details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  CONSTRAINT journal_pkey PRIMARY KEY (instance_id, ordinal)
);

CREATE TABLE stepwell.step_logs (
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  block_id text COLLATE "C" NOT NULL,
  level text NOT NULL,
  message text NOT NULL,
  logged_at timestamptz NOT NULL,
  CONSTRAINT step_logs_pkey PRIMARY KEY (instance_id, ordinal),
  CONSTRAINT step_logs_level_check CHECK (level IN ('debug', 'info', 'warn', 'error'))
);

CREATE TABLE stepwell.triggers (
  slug text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  namespace text NOT NULL,
  sequence_name text NOT NULL,
  version integer,
  enabled boolean NOT NULL DEFAULT true,
  secret text,
  trigger_type text NOT NULL,
  config jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT triggers_pkey PRIMARY KEY (slug)
);

CREATE INDEX triggers_tenant_idx ON stepwell.triggers (tenant_id, slug);

CREATE TABLE stepwell.webhook_nonces (
  slug text COLLATE "C" NOT NULL,
  nonce text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT webhook_nonces_pkey PRIMARY KEY (slug, nonce)
);

CREATE INDEX webhook_nonces_expiry_idx ON stepwell.webhook_nonces (expires_at);

CREATE TABLE stepwell.webhook_deliveries (
  slug text COLLATE "C" NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (slug, delivery_id)
);

CREATE INDEX webhook_deliveries_expiry_idx ON stepwell.webhook_deliveries (expires_at);
