import {
  type Json,
  type JsonObject,
  canonicalJson,
  isJsonObject,
  mergeObjects,
  utf8Bytes,
} from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { PatchContextRequest, SignalAnswer, SignalRequest } from '../../ports/store/accept.ts';
import { type Tx, findInstance, saveInstance } from './database.ts';
import { type InstanceRow, stored } from './rows.ts';
import { acceptFact, acceptSignal } from './wake.ts';

/** A repeat is answered before the state is looked at: it was accepted while the instance still ran (RULINGS A36). */
export function signal(tx: Tx, request: SignalRequest): SignalAnswer {
  const row = findInstance(tx.db, request.tenantId, request.instanceId);
  if (row === null) return { status: 'not_found' };
  const answer = { signalId: request.signalId, held: row.leaseUntil !== null && row.leaseUntil > tx.t };
  if (tx.db.inbox.of(row.id).has(request.signalId)) return { status: 'repeated', ...answer };
  if (isTerminal(row.state)) return { status: 'terminal', state: row.state };
  const { signalId: id, signalType, payload } = request;
  acceptSignal(tx, row, { id, signalType, payload });
  return { status: 'accepted', ...answer };
}

type Sections = { readonly data: Json; readonly config: JsonObject; readonly audit: readonly Json[] };

export function patchContext(
  tx: Tx,
  request: PatchContextRequest,
): 'accepted' | 'applied' | 'not_found' | 'too_large' {
  const row = findInstance(tx.db, request.tenantId, request.instanceId);
  if (row === null) return 'not_found';
  if (tx.db.inbox.of(row.id).has(request.factId)) return 'accepted';
  const next = patchSections(row, request);
  const bytes = utf8Bytes(canonicalJson({ data: next.data, config: next.config, audit: next.audit }));
  if (request.maxContextBytes > 0 && bytes > request.maxContextBytes) return 'too_large';
  if (isTerminal(row.state)) {
    saveInstance(tx, { ...row, ...stored(next) });
    return 'applied';
  }
  const fact = { kind: 'context' as const, sections: request.sections, mode: request.mode };
  acceptFact(tx, row, { id: request.factId, fact, moves: false });
  return 'accepted';
}

/** [CTX-3]: sections that are not given stay. A merge goes per top-level key ([CTX-4]); `audit` is replaced either way. */
function patchSections(row: InstanceRow, { sections, mode }: PatchContextRequest): Sections {
  const data = Object.hasOwn(sections, 'data') ? (sections.data ?? null) : row.data;
  const config = sections.config ?? row.config;
  const audit = sections.audit ?? row.audit;
  if (mode === 'replace') return { data, config, audit };
  return { data: mergeData(row.data, data), config: mergeObjects(row.config, config), audit };
}

function mergeData(before: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  return mergeObjects(isJsonObject(before) ? before : {}, patch);
}
