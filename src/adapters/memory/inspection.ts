import { compareCodePoints, utf8Bytes } from '../../core/json.ts';
import type { Surroundings } from '../../core/diagnosis/surroundings.ts';
import type { Frame } from '../../core/run/frame.ts';
import {
  type ConcurrencyKey,
  type InspectionStore,
  type ListConcurrencyQuery,
  type ListSignalsQuery,
  SIGNAL_PAYLOAD_SHOWN_MAX,
  type SignalRow,
  SURROUNDINGS_MAX,
  type SurroundingsRequest,
} from '../../ports/store/inspection.ts';
import { type Run, type Tx, findInstance, framesOf } from './database.ts';
import { limitKey } from './limits.ts';
import type { InstanceRow } from './rows.ts';

export function inspectionPart(run: Run): InspectionStore {
  return {
    getSurroundings: (request) => run((tx) => surroundings(tx, request)),
    listSignals: (query) => run((tx) => listSignals(tx, query)),
    getStartInput: (tenantId, id) =>
      run((tx) => {
        const row = findInstance(tx.db, tenantId, id);
        return row === null ? 'unknown' : { input: row.originalInput };
      }),
    listStanding: (tenantId, ids, perInstance) =>
      run((tx) => {
        const known = ids.filter((id) => findInstance(tx.db, tenantId, id) !== null);
        return new Map(known.map((id) => [id, standing(tx, id, perInstance)]));
      }),
    listConcurrencyKeys: (query) => run((tx) => listConcurrencyKeys(tx, query)),
  };
}

function surroundings(tx: Tx, request: SurroundingsRequest): Surroundings {
  const { tenantId, concurrencyKey } = request;
  const handlers = [...new Set(request.handlers)];
  const pins = tx.db.pins.values().filter((pin) => pin.tenantId === tenantId);
  return {
    workers: handlers.map((handler) => ({ handler, versions: versionsOf(tx, request, handler) })),
    pins: pins
      .filter(({ handlerName }) => handlers.includes(handlerName))
      .map(({ handlerName, minVersion }) => ({ handler: handlerName, minVersion }))
      .sort((a, b) => compareCodePoints(a.handler, b.handler)),
    breakers: breakersOf(tx, tenantId),
    children: [...new Set(request.childIds)]
      .flatMap((id) => findInstance(tx.db, tenantId, id) ?? [])
      .map(({ id, state }) => ({ id, state }))
      .sort((a, b) => compareCodePoints(a.id, b.id)),
    slots: concurrencyKey === null ? null : slotsOf(tx, request, concurrencyKey),
    rates: [...new Set(request.rateKeys)].sort(compareCodePoints).flatMap((key) => rateOf(tx, tenantId, key)),
  };
}

function versionsOf(
  tx: Tx,
  { tenantId, aliveWithinMs }: SurroundingsRequest,
  handler: string,
): readonly (string | null)[] {
  const alive = tx.db.workers.values().filter((row) => {
    const polledAt = row.handlers.get(handler);
    const serves = row.tenantId === null || row.tenantId === tenantId;
    return serves && polledAt !== undefined && polledAt + aliveWithinMs >= tx.t;
  });
  const versions = [...new Set(alive.map(({ version }) => version))];
  const named = versions.filter((version) => version !== null).sort(compareCodePoints);
  return versions.includes(null) ? [...named, null] : named;
}

function breakersOf(tx: Tx, tenantId: string): Surroundings['breakers'] {
  return tx.db.breakers
    .values()
    .filter((row) => row.tenantId === tenantId)
    .flatMap(({ handler, state, openedAt, cooldownMs, failureCount }) =>
      state === 'closed' ? [] : [{ handler, state, openedAt: openedAt ?? 0, cooldownMs, failureCount }],
    )
    .sort((a, b) => compareCodePoints(a.handler, b.handler))
    .slice(0, SURROUNDINGS_MAX.breakers);
}

function slotsOf(
  tx: Tx,
  { tenantId, instanceId }: SurroundingsRequest,
  key: string,
): NonNullable<Surroundings['slots']> {
  const { holders, waiters } = contenders(tx, { tenantId, concurrencyKey: key });
  const own = tx.db.instances.get(instanceId);
  const before = own === undefined ? [] : waiters.filter((row) => row.id !== own.id && inLine(row, own) < 0);
  return {
    holders: holders.slice(0, SURROUNDINGS_MAX.holders).map(({ id }) => id),
    holderCount: holders.length,
    aheadCount: before.length,
  };
}

function rateOf(tx: Tx, tenantId: string, key: string): Surroundings['rates'] {
  const row = tx.db.rateLimits.get(limitKey(tenantId, key));
  if (row === undefined) return [];
  const live = row.grants.filter(({ at }) => at > tx.t - row.windowMs);
  const count = live.reduce((sum, grant) => sum + grant.count, 0);
  return [{ key, count, max: row.maxCount, windowMs: row.windowMs }];
}

/** Who holds a slot of a key, the longest first, and who waits for one, in the order in which they are given it. */
function contenders(
  tx: Tx,
  { tenantId, concurrencyKey }: Pick<InstanceRow, 'tenantId' | 'concurrencyKey'>,
): { readonly holders: readonly InstanceRow[]; readonly waiters: readonly InstanceRow[] } {
  const rows = tx.db.instances
    .values()
    .filter((row) => row.tenantId === tenantId && row.concurrencyKey === concurrencyKey);
  return {
    holders: rows
      .filter(({ state }) => state === 'running')
      .sort((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0) || compareCodePoints(a.id, b.id)),
    waiters: rows.filter((row) => row.waitsForSlot && row.state === 'scheduled').sort(inLine),
  };
}

function inLine(a: InstanceRow, b: InstanceRow): number {
  const at = (row: InstanceRow): number => row.dueAt ?? row.nextFireAt ?? 0;
  return b.priority - a.priority || at(a) - at(b) || compareCodePoints(a.id, b.id);
}

function listConcurrencyKeys(tx: Tx, query: ListConcurrencyQuery): readonly ConcurrencyKey[] {
  const scopes = new Map<string, Pick<InstanceRow, 'tenantId' | 'concurrencyKey'>>();
  for (const row of tx.db.instances.values()) {
    if (row.concurrencyKey === null || (query.tenantId !== null && row.tenantId !== query.tenantId)) continue;
    if (query.key !== null && row.concurrencyKey !== query.key) continue;
    scopes.set(JSON.stringify([row.tenantId, row.concurrencyKey]), row);
  }
  return [...scopes.values()]
    .map((scope) => keyView(tx, scope, query.perKey))
    .filter(({ holderCount, waiterCount }) => holderCount + waiterCount > 0)
    .sort((a, b) => compareCodePoints(a.tenantId, b.tenantId) || compareCodePoints(a.key, b.key))
    .slice(query.offset, query.offset + query.limit);
}

function keyView(
  tx: Tx,
  scope: Pick<InstanceRow, 'tenantId' | 'concurrencyKey'>,
  perKey: number,
): ConcurrencyKey {
  const { holders, waiters } = contenders(tx, scope);
  const limits = [...holders, ...waiters].flatMap(({ maxConcurrency }) => maxConcurrency ?? []);
  return {
    tenantId: scope.tenantId,
    key: scope.concurrencyKey ?? '',
    max: limits.length === 0 ? null : Math.max(...limits),
    holders: holders.slice(0, perKey).map(({ id, startedAt }) => ({ instanceId: id, since: startedAt })),
    holderCount: holders.length,
    waiters: waiters.slice(0, perKey).map((row) => ({
      instanceId: row.id,
      priority: row.priority,
      max: row.maxConcurrency,
      retryAt: row.nextFireAt,
    })),
    waiterCount: waiters.length,
  };
}

function listSignals(
  tx: Tx,
  { tenantId, instanceId, limit, offset }: ListSignalsQuery,
): readonly SignalRow[] | null {
  if (findInstance(tx.db, tenantId, instanceId) === null) return null;
  return tx.db.inbox
    .of(instanceId)
    .values()
    .sort((a, b) => b.seq - a.seq)
    .flatMap(({ id, fact, acceptedAt, processedAt, disposition }) => {
      if (fact.kind !== 'signal') return [];
      const isLeftOut = utf8Bytes(JSON.stringify(fact.payload)) > SIGNAL_PAYLOAD_SHOWN_MAX;
      const payload = isLeftOut ? null : fact.payload;
      const { signalType } = fact;
      return [
        {
          id,
          instanceId,
          signalType,
          payload,
          isLeftOut,
          createdAt: acceptedAt,
          deliveredAt: processedAt,
          disposition,
        },
      ];
    })
    .slice(offset, offset + limit);
}

/** The root list is always among them; the others only as far as they wait. */
function standing(tx: Tx, id: string, perInstance: number): readonly Frame[] {
  const frames = framesOf(tx.db, id);
  const isRoot = (frame: Frame): boolean => frame.detail.kind === 'root';
  const others = frames
    .filter((frame) => !isRoot(frame) && frame.state === 'open' && waits(frame))
    .sort(
      (a, b) =>
        Number(!hasGate(a)) - Number(!hasGate(b)) ||
        wakeOf(a) - wakeOf(b) ||
        compareCodePoints(a.blockId, b.blockId) ||
        (a.branch ?? -1) - (b.branch ?? -1) ||
        compareCodePoints(a.iteration, b.iteration),
    );
  return [...frames.filter(isRoot), ...others.slice(0, perInstance)];
}

function pollOf({ detail }: Frame): number | null {
  return detail.kind === 'loop' ? detail.pollUntil : null;
}

function waits(frame: Frame): boolean {
  return (frame.leaf?.reason ?? null) !== null || pollOf(frame) !== null;
}

function hasGate({ leaf }: Frame): boolean {
  return leaf?.state === 'waiting' && leaf.gate !== null;
}

function wakeOf(frame: Frame): number {
  return frame.leaf?.wakeAt ?? pollOf(frame) ?? Number.POSITIVE_INFINITY;
}
