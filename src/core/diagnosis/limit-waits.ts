import type { DiagnosisFacts, StandingLeaf } from './facts.ts';
import { type Diagnosis, type Evidence, diagnosis, instant } from './finding.ts';
import type { OpenBreaker, RateOfKey } from './surroundings.ts';
import { nameOf, until } from './wording.ts';

/** A rate key or a pool has nothing to give. */
export function limitWait(
  { now, surroundings }: DiagnosisFacts,
  standing: StandingLeaf,
  reason: 'rate_limit' | 'pool',
): readonly Diagnosis[] {
  const { wakeAt, limit = '' } = standing.leaf;
  if (wakeAt === null || wakeAt <= now) return [];
  const rate = surroundings?.rates.find(({ key }) => key === limit);
  const what =
    reason === 'pool' ? `the pool '${limit}' is exhausted` : `the rate limit '${limit}' is used up`;
  return [
    diagnosis('RATE_LIMITED', {
      summary: `${nameOf(standing)} waits until ${instant(wakeAt)}: ${what}`,
      evidence: [...until('resumes_at', wakeAt), ...(rate === undefined ? [] : [used(rate)])],
      affected: { kind: reason, id: limit },
    }),
  ];
}

function used({ count, max, windowMs }: RateOfKey): Evidence {
  const summary = `${count} of ${max} in ${windowMs / 1000} s`;
  return { label: 'grants', summary, data: { count, max, window_seconds: windowMs / 1000 } };
}

/** The run is due and the slots of its concurrency key are taken ([CONC-2]). */
export function slotWait({ instance, surroundings }: DiagnosisFacts): readonly Diagnosis[] {
  const { concurrencyKey: key, maxConcurrency: max } = instance;
  if (!instance.waitsForSlot || instance.state !== 'scheduled' || key === null) return [];
  const slots = surroundings?.slots ?? null;
  const held = slots === null ? 'all slots' : `${slots.holderCount} of ${max ?? 'any'} slots`;
  const line = slots === null ? '' : `; ${slots.aheadCount} wait before it`;
  const holders = slots?.holders ?? [];
  return [
    diagnosis('CONCURRENCY_BLOCKED', {
      summary: `${held} of the concurrency key '${key}' are held${line}`,
      evidence: [
        { label: 'place_in_line', summary: slots === null ? 'unknown' : String(slots.aheadCount + 1) },
        ...(holders.length === 0
          ? []
          : [{ label: 'holders', summary: holders.join(', '), data: [...holders] }]),
      ],
      affected: { kind: 'concurrency_key', id: key },
    }),
  ];
}

/** Breakers that are open; one that keeps a step of this run from being called is a cause, any other one a sign. */
export function openBreakers(facts: DiagnosisFacts): readonly Diagnosis[] {
  return (facts.surroundings?.breakers ?? []).flatMap((breaker) => {
    const isHere = concerns(facts, breaker.handler);
    // While a probe is out the breaker is not open; it may still hold a step of this run back.
    if (!isHere && breaker.state !== 'open') return [];
    return [openBreaker(facts.now, breaker, isHere)];
  });
}

function concerns({ leaves, tasks }: DiagnosisFacts, handler: string): boolean {
  return (
    tasks.some((task) => task.handlerName === handler) ||
    leaves.some(
      ({ leaf, fallbackHandler }) =>
        leaf.reason === 'breaker' && (leaf.limit === handler || fallbackHandler === handler),
    )
  );
}

function openBreaker(now: number, breaker: OpenBreaker, isHere: boolean): Diagnosis {
  const { handler, openedAt, cooldownMs, failureCount } = breaker;
  const seconds = Math.max(0, Math.ceil((openedAt + cooldownMs - now) / 1000));
  return diagnosis('OPEN_CIRCUIT_BREAKER', {
    summary: `the circuit breaker of handler '${handler}' is open; retries resume in ${seconds} s`,
    evidence: [
      { label: 'opened_at', summary: instant(openedAt) },
      { label: 'failures', summary: String(failureCount), data: failureCount },
    ],
    affected: { kind: 'handler', id: handler },
    rank: isHere ? {} : { category: 'health_warning', confidence: 'low' },
  });
}
