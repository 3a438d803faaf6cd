import type { JsonObject } from '../../core/json.ts';
import type { InjectionPlace } from '../../core/run/reshape/injected.ts';
import type {
  ChangeAnswer,
  ChangeRequest,
  Checkpoint,
  NewChange,
  ShapeStore,
} from '../../ports/store/shape.ts';
import { call, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const ACCEPT = 'SELECT stepwell.accept_change_v1($1, $2, $3, $4, $5, $6, $7::jsonb)';
const LIST = 'SELECT stepwell.list_changes_v1($1, $2)';
const ADD_CHECKPOINT = 'SELECT stepwell.add_checkpoint_v1($1, $2, $3, $4::jsonb)';
const LIST_CHECKPOINTS = 'SELECT stepwell.list_checkpoints_v1($1, $2, $3)';
const PRUNE_CHECKPOINTS = 'SELECT stepwell.prune_checkpoints_v1($1, $2, $3)';

interface StoredChange {
  readonly number: number;
  readonly kind: NewChange['kind'];
  readonly sequenceId: string | null;
  /** Of a migration only `replaced` is there, of an injection the rest. */
  readonly body: InjectionPlace & {
    readonly blocks: readonly JsonObject[];
    readonly replaced: readonly string[];
  };
  readonly refused: string | null;
}

export function createShapeStore(driver: SqlDriver): ShapeStore {
  return {
    acceptChange: (request) => acceptChange(driver, request),
    async listShapeChanges({ tenantId, instanceId }) {
      const stored = answerOf<readonly StoredChange[]>(await call(driver, LIST, [tenantId, instanceId]));
      return stored.map((row) => ({ number: row.number, change: readChange(row), refused: row.refused }));
    },
    async addCheckpoint({ tenantId, instanceId, id, data }) {
      if (!isUuid(instanceId)) return false;
      const params = [tenantId, instanceId, id, JSON.stringify(data)];
      return answerOf<boolean>(await call(driver, ADD_CHECKPOINT, params));
    },
    async listCheckpoints(tenantId, instanceId, limit) {
      if (!isUuid(instanceId)) return null;
      return answerOf<readonly Checkpoint[] | null>(
        await call(driver, LIST_CHECKPOINTS, [tenantId, instanceId, limit]),
      );
    },
    async pruneCheckpoints(tenantId, instanceId, keep) {
      if (!isUuid(instanceId)) return null;
      return answerOf<number | null>(await call(driver, PRUNE_CHECKPOINTS, [tenantId, instanceId, keep]));
    },
  };
}

async function acceptChange(driver: SqlDriver, request: ChangeRequest): Promise<ChangeAnswer> {
  const { tenantId, instanceId, id, expected, change } = request;
  if (!isUuid(instanceId)) return { status: 'not_found' };
  const { kind, ...body } = change;
  const sequenceId = change.kind === 'migrate' ? change.sequenceId : null;
  if (sequenceId !== null && !isUuid(sequenceId)) return { status: 'no_sequence' };
  const params = [tenantId, instanceId, id, expected, kind, sequenceId, JSON.stringify(body)];
  return answerOf<ChangeAnswer>(await call(driver, ACCEPT, params));
}

function readChange({ kind, sequenceId, body }: StoredChange): NewChange {
  switch (kind) {
    case 'inject':
      return { kind, blocks: body.blocks, position: body.position, before: body.before, after: body.after };
    case 'migrate':
      return { kind, sequenceId: sequenceId ?? '', replaced: body.replaced };
  }
}
