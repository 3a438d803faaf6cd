import type {
  ClaimBatch,
  ClaimDueRequest,
  ClaimOneRequest,
  ClaimOneResult,
  CommitAnswer,
  FreedSlots,
  GivenSlot,
  ReleasedLease,
  NextWake,
  TurnCommit,
  TurnStore,
  Upcoming,
} from '../../ports/store/turn.ts';
import { LOCK_TIMEOUT, call, callOr, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { type ClaimOneAnswer, type ClaimsAnswer, answerOf, readClaim } from './rows.ts';
import { encodeTurns } from './turn-payload.ts';
import { type VerdictsAnswer, readVerdicts } from './verdicts.ts';

const CLAIM_DUE = 'SELECT stepwell.claim_due_v1($1, $2, $3, $4, $5, $6, $7, $8)';
const CLAIM_EXPIRED = 'SELECT stepwell.claim_expired_v1($1, $2, $3, $4, $5, $6, $7, $8)';
const CLAIM_ONE = 'SELECT stepwell.claim_one_v1($1, $2, $3, $4, $5, $6, $7, $8)';
const COMMIT_TURN = 'SELECT stepwell.commit_turn_v1($1::jsonb)';
const COMMIT_TURNS = 'SELECT stepwell.commit_turns_v1($1::jsonb)';
const RENEW = 'SELECT stepwell.renew_leases_v1($1::jsonb, $2)';
const RELEASE = 'SELECT stepwell.release_leases_v1($1::jsonb)';
const VOID_ALL = 'SELECT stepwell.void_all_leases_v1()';
const PEEK = 'SELECT stepwell.peek_inbox_v1($1::jsonb)';
const NEXT_WAKE = 'SELECT stepwell.next_wake_v1()';
// The time and the beginning of the page are values of their own, so that they bound a range of the index.
const UPCOMING = `
WITH t AS MATERIALIZED (SELECT stepwell.sw_now() AS now),
  a AS MATERIALIZED (SELECT greatest(t.now, stepwell.from_ms($4::bigint)) AS at FROM t)
SELECT json_build_object('now', stepwell.to_ms((SELECT now FROM t)), 'instances', coalesce((
  SELECT json_agg(json_build_object('tenantId', u.tenant_id, 'instanceId', u.id, 'dueAt', stepwell.to_ms(u.due_at))
    ORDER BY u.due_at, u.id)
  FROM (
    SELECT i.tenant_id, i.id, i.due_at FROM stepwell.task_instances i
    WHERE i.lease_until IS NULL AND i.due_at > (SELECT now FROM t) AND i.due_at >= (SELECT at FROM a)
      AND (i.due_at > (SELECT at FROM a) OR i.id > $5::uuid)
      AND i.due_at <= (SELECT now FROM t) + make_interval(secs => $1::double precision / 1000)
      AND i.due_at - i.updated_at > make_interval(secs => $2::double precision / 1000)
    ORDER BY i.due_at, i.id LIMIT $3
  ) u), '[]'))`;
const COUNT_DUE = `
WITH t AS MATERIALIZED (SELECT stepwell.sw_now() AS now)
SELECT to_json(count(*)) FROM (
  SELECT 1 FROM stepwell.task_instances i
  WHERE i.lease_until IS NULL AND i.due_at <= (SELECT now FROM t) LIMIT $1
) d`;
const NOW = 'SELECT stepwell.to_ms(stepwell.sw_now())';

/** What a commit does beyond its instance does not fit any more: all of it was undone. */
const OUTSIDE_CHANGED = 'SW006';

export function createTurnStore(driver: SqlDriver): TurnStore {
  return {
    claimDue: (request) => claimBatch(driver, CLAIM_DUE, request),
    claimExpired: (request) => claimBatch(driver, CLAIM_EXPIRED, request),
    claimOne: (request) => claimOne(driver, request),
    commit: (turns) => commit(driver, turns),
    async renewLeases(leases, leaseMs) {
      if (leases.length === 0) return new Set();
      return new Set(answerOf<string[]>(await call(driver, RENEW, [encodeLeases(leases), leaseMs])));
    },
    async releaseLeases(leases) {
      if (leases.length === 0) return [];
      return answerOf<GivenSlot[] | null>(await call(driver, RELEASE, [encodeLeases(leases)])) ?? [];
    },
    async voidAllLeases() {
      return answerOf<number>(await call(driver, VOID_ALL, []));
    },
    async peekInbox(leases) {
      if (leases.length === 0) return new Set();
      return new Set(answerOf<string[]>(await call(driver, PEEK, [encodeLeases(leases)])));
    },
    async nextWake() {
      return answerOf<NextWake>(await call(driver, NEXT_WAKE, []));
    },
    async countDue(limit) {
      return answerOf<number>(await tenantCall(driver, null, COUNT_DUE, [limit]));
    },
    async listUpcoming({ withinMs, aheadMs, limit, after }) {
      const page = [withinMs, aheadMs, limit, after?.dueAt ?? null, after?.instanceId ?? null];
      return answerOf<Upcoming>(await tenantCall(driver, null, UPCOMING, page));
    },
  };
}

async function claimBatch(driver: SqlDriver, text: string, request: ClaimDueRequest): Promise<ClaimBatch> {
  const { leaseToken, leaseOwner, leaseMs, limit, perTenantLimit } = request;
  const { among = Math.max(1, limit), busy = false, suspects = 0 } = request;
  const params = [leaseToken, leaseOwner, leaseMs, limit, perTenantLimit, among, busy, suspects];
  const { now, claims, given, waits, left } = answerOf<ClaimsAnswer>(await call(driver, text, params));
  return {
    now,
    claims: claims.map(readClaim),
    ...freed(given),
    ...(waits === null || waits === undefined ? {} : { waits }),
    ...(left === null || left === undefined ? {} : { left }),
  };
}

async function claimOne(driver: SqlDriver, request: ClaimOneRequest): Promise<ClaimOneResult> {
  const { tenantId, instanceId, leaseToken, leaseOwner, leaseMs } = request;
  if (!isUuid(instanceId)) return { status: 'not_found', now: await readNow(driver) };
  const operator = request.mode === 'operator';
  const params = [
    tenantId,
    instanceId,
    leaseToken,
    leaseOwner,
    leaseMs,
    operator,
    request.takeOver ?? false,
    request.among ?? 1,
  ];
  const answer = await callOr(async () => answerOf<ClaimOneAnswer>(await driver.query(CLAIM_ONE, params)), {
    [LOCK_TIMEOUT]: () => null,
  });
  if (answer === null) return { status: 'held', now: await readNow(driver) };
  if (answer.status === 'not_due') return { status: 'not_due', now: answer.now, ...freed(answer.given) };
  if (answer.status !== 'claimed') return answer;
  const [claim] = answer.claims.map(readClaim);
  if (claim === undefined) throw new Error('a claim was answered without its instance');
  return { status: 'claimed', now: answer.now, claim };
}

function freed(given: readonly GivenSlot[] | null | undefined): FreedSlots {
  return given === null || given === undefined ? {} : { given };
}

/** A lone turn waits for its row and needs less work in the database; several skip rows that are locked. */
async function commit(driver: SqlDriver, turns: readonly TurnCommit[]): Promise<CommitAnswer> {
  if (turns.length === 0) return { now: await readNow(driver), verdicts: [] };
  const text = turns.length === 1 ? COMMIT_TURN : COMMIT_TURNS;
  const answer = await callOr<VerdictsAnswer | 'busy' | 'refused'>(
    async () => answerOf<VerdictsAnswer>(await driver.query(text, [encodeTurns(turns)])),
    { [LOCK_TIMEOUT]: () => 'busy' as const, [OUTSIDE_CHANGED]: () => 'refused' as const },
  );
  if (typeof answer === 'string')
    return { now: await readNow(driver), verdicts: turns.map(() => ({ verdict: answer })) };
  return { now: answer.now, verdicts: readVerdicts(answer, turns.length) };
}

async function readNow(driver: SqlDriver): Promise<number> {
  return Number(answerOf(await call(driver, NOW, [])));
}

function encodeLeases(leases: readonly (ReleasedLease & { readonly seenSeq?: number })[]): string {
  return JSON.stringify(
    leases.map(({ tenantId, instanceId, epoch, leaseToken, seenSeq, isHop }) => ({
      tenantId,
      instanceId,
      epoch,
      leaseToken,
      ...(seenSeq === undefined ? {} : { seenSeq }),
      ...(isHop === undefined ? {} : { isHop }),
    })),
  );
}
