import type {
  AcceptStore,
  NewInstance,
  PatchContextRequest,
  SignalAnswer,
  SignalRequest,
  StartAnswer,
  StartRequest,
  Started,
} from '../../ports/store/accept.ts';
import type { InstanceState } from '../../core/run/states.ts';
import { call, callOr, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { freshClaim } from './fresh-claim.ts';
import { type ClaimAnswer, answerOf, readClaim } from './rows.ts';

const START = 'SELECT stepwell.start_v1($1::jsonb)';
const SIGNAL = 'SELECT stepwell.signal_v1($1, $2, $3, $4, $5::jsonb)';
const PATCH_CONTEXT = 'SELECT stepwell.patch_context_v1($1, $2, $3, $4::jsonb, $5, $6)';
const REMOVE_EXPIRED = 'SELECT stepwell.remove_expired_v1($1)';

/** SQLSTATEs by which start_v1 undoes everything. */
const KNOWN_KEY = 'SW001';
const NONCE_USED = 'SW003';
export const NO_SEQUENCE = 'SW005';
const PLAN_FULL = 'SW010';
const PLAN_RATE = 'SW013';

type FactStore = Pick<AcceptStore, 'start' | 'signal' | 'patchContext' | 'removeExpired'>;

/** `fresh`: all instances are new, and those that are due have the lease when one was asked for. */
type StartedAnswer =
  | { readonly now: number; readonly fresh: true; readonly breakers: readonly string[] | null }
  | {
      readonly now: number;
      readonly fresh?: never;
      readonly started: readonly {
        readonly id: string;
        readonly deduplicated: boolean;
        readonly conflict: boolean;
        readonly claim?: ClaimAnswer | null;
      }[];
    };

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
      const answer = answerOf<StartedAnswer>(
        await driver.query(START, [JSON.stringify(startPayload(request))]),
      );
      const { now } = answer;
      if (answer.fresh) return { status: 'ok', now, started: freshStarts(request, now, answer.breakers) };
      const started = answer.started.map(({ claim, ...rest }) => ({
        ...rest,
        claim: claim === undefined || claim === null ? null : readClaim(claim),
      }));
      return { status: 'ok', now, started };
    },
    {
      [KNOWN_KEY]: ({ message }) => ({ status: 'known_key', index: Number(message) }),
      [NONCE_USED]: () => ({ status: 'nonce_used' }),
      [NO_SEQUENCE]: () => ({ status: 'no_sequence' }),
      [PLAN_FULL]: ({ message }) => ({ status: 'plan_full', tenantId: message }),
      [PLAN_RATE]: ({ message }) => ({ status: 'plan_rate', tenantId: message }),
    },
  );
}

/** What a new instance looks like is known without reading it back. */
function freshStarts(
  { instances, lease }: StartRequest,
  now: number,
  openBreakers: readonly string[] | null,
): readonly Started[] {
  return instances.map((instance) => {
    const isDue = instance.nextFireAt === null || instance.nextFireAt <= now;
    const claim = lease === undefined || !isDue ? null : freshClaim(instance, lease, now, openBreakers);
    return { id: instance.id, deduplicated: false, conflict: false, claim };
  });
}

/** What the SQL functions take for a start. */
export function startPayload(request: StartRequest): object {
  return {
    instances: request.instances.map(encodeInstance),
    ...(request.onKnownKey === 'conflict' ? { refuseKnownKey: true } : {}),
    ...(request.instances.some(({ concurrencyKey }) => concurrencyKey !== null) ? { keys: true } : {}),
    ...(request.activeLimits === undefined ? {} : { activeLimits: request.activeLimits }),
    ...(request.requireSequence === true ? { requireSequence: true } : {}),
    ...(request.delivery === undefined ? {} : { delivery: request.delivery }),
    ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    ...(request.lease === undefined ? {} : { lease: { among: 1, ...request.lease } }),
  };
}

/** Members that are null or false are left out: the function reads an absent one as that. */
export function encodeInstance(instance: NewInstance): object {
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
