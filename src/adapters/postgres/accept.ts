import type {
  AcceptStore,
  NewInstance,
  PatchContextRequest,
  SignalAnswer,
  SignalRequest,
  StartAnswer,
  StartRequest,
} from '../../ports/store/accept.ts';
import type { InstanceState } from '../../core/run/states.ts';
import { call, callOr, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { type ClaimAnswer, answerOf, readClaim } from './rows.ts';

const START = 'SELECT stepwell.start_v1($1::jsonb)';
const SIGNAL = 'SELECT stepwell.signal_v1($1, $2, $3, $4, $5::jsonb)';
const PATCH_CONTEXT = 'SELECT stepwell.patch_context_v1($1, $2, $3, $4::jsonb, $5, $6)';
const REMOVE_EXPIRED = 'SELECT stepwell.remove_expired_v1($1)';

/** SQLSTATEs by which start_v1 undoes everything. */
const KNOWN_KEY = 'SW001';
const NONCE_USED = 'SW003';

type FactStore = Pick<AcceptStore, 'start' | 'signal' | 'patchContext' | 'removeExpired'>;

interface StartedAnswer {
  readonly now: number;
  readonly started: readonly {
    readonly id: string;
    readonly deduplicated: boolean;
    readonly conflict: boolean;
    readonly claim?: ClaimAnswer | null;
  }[];
}

export function createFactStore(driver: SqlDriver): FactStore {
  return {
    start: (request) => start(driver, request),
    signal: (request) => signal(driver, request),
    patchContext: (request) => patchContext(driver, request),
    async removeExpired(limit) {
      return answerOf<number>(await call(driver, REMOVE_EXPIRED, [limit]));
    },
  };
}

async function start(driver: SqlDriver, request: StartRequest): Promise<StartAnswer> {
  return callOr<StartAnswer>(
    async () => {
      const { now, started } = answerOf<StartedAnswer>(await driver.query(START, [encodeStart(request)]));
      return {
        status: 'ok',
        now,
        started: started.map(({ id, deduplicated, conflict, claim }) => ({
          id,
          deduplicated,
          conflict,
          claim: claim === undefined || claim === null ? null : readClaim(claim),
        })),
      };
    },
    {
      [KNOWN_KEY]: ({ message }) => ({ status: 'known_key', index: Number(message) }),
      [NONCE_USED]: () => ({ status: 'nonce_used' }),
    },
  );
}

function encodeStart(request: StartRequest): string {
  return JSON.stringify({
    instances: request.instances.map(encodeInstance),
    ...(request.onKnownKey === 'conflict' ? { refuseKnownKey: true } : {}),
    ...(request.instances.some(({ concurrencyKey }) => concurrencyKey !== null) ? { keys: true } : {}),
    ...(request.delivery === undefined ? {} : { delivery: request.delivery }),
    ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    ...(request.lease === undefined ? {} : { lease: request.lease }),
  });
}

/** Members that are null or false are left out: the function reads an absent one as that. */
function encodeInstance(instance: NewInstance): object {
  const { data, originalInput, ...rest } = instance;
  const said = Object.entries(rest).filter(([, value]) => value !== null && value !== false);
  return { ...Object.fromEntries(said), data, originalInput };
}

async function signal(driver: SqlDriver, request: SignalRequest): Promise<SignalAnswer> {
  const { tenantId, instanceId, signalId, signalType, payload } = request;
  if (!isUuid(instanceId)) return { status: 'not_found' };
  const answer = answerOf<
    | { readonly status: 'accepted' | 'repeated'; readonly held: boolean }
    | { readonly status: 'not_found' }
    | { readonly status: 'terminal'; readonly state: InstanceState }
  >(await call(driver, SIGNAL, [tenantId, instanceId, signalId, signalType, JSON.stringify(payload)]));
  switch (answer.status) {
    case 'accepted':
    case 'repeated':
      return { status: answer.status, signalId, held: answer.held };
    case 'not_found':
    case 'terminal':
      return answer;
    default:
      return answer satisfies never;
  }
}

async function patchContext(
  driver: SqlDriver,
  request: PatchContextRequest,
): Promise<'accepted' | 'applied' | 'not_found' | 'too_large'> {
  const { tenantId, instanceId, factId, sections, mode, maxContextBytes } = request;
  if (!isUuid(instanceId)) return 'not_found';
  const params = [tenantId, instanceId, factId, JSON.stringify(sections), mode === 'merge', maxContextBytes];
  return answerOf(await call(driver, PATCH_CONTEXT, params));
}
