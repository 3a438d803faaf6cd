import type { Json } from '../../src/core/json.ts';
import { NO_SERVICES } from '../../src/sdk/worker/no-services.ts';
import type { LogLevel, StateReader, StepCall } from '../../src/ports/step-handler.ts';

/** A state store that holds what it is given. */
export function stateOf(entries: Record<string, Json>, extraCount = 0): StateReader {
  const stored = new Map(Object.entries(entries));
  return {
    get: async (key) => stored.get(key),
    count: async () => stored.size + extraCount,
  };
}

export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
}

/** A call with everything a handler may ask for; `lines` takes what it logs. */
export function stepCall(
  params: Json,
  overrides: Partial<StepCall> = {},
  lines: LoggedLine[] = [],
): StepCall {
  return {
    instanceId: '01890000-0000-7000-8000-000000000001',
    tenantId: 'kiln',
    namespace: 'shop',
    blockId: 'leaf',
    attempt: 0,
    iteration: '',
    params,
    context: { data: {}, config: {}, audit: [], runtime: {} },
    outputs: new Map(),
    idempotencyKey: 'instance:run:leaf:-',
    attemptKey: 'instance:run:leaf:-:0',
    redelivery: false,
    dryRun: false,
    signal: new AbortController().signal,
    remainingTimeMs: () => 60_000,
    state: stateOf({}),
    log: (level, message) => lines.push({ level, message }),
    nowMs: Date.UTC(2027, 4, 1, 10),
    gate: null,
    services: NO_SERVICES,
    ...overrides,
  };
}
