import { randomUUID } from 'node:crypto';
import { commitIds, type Payload, payloadsByRoute, type Route } from './payloads.ts';
import { seededRandom } from './random.ts';

/** One webhook that will be sent. */
export interface Delivery {
  readonly payload: Payload;
  readonly route: Route;
  /** What GitHub puts into X-GitHub-Delivery; a repeat carries the same one. */
  readonly deliveryId: string;
  /** GitHub sends some webhooks again although they had arrived. */
  readonly sentTwice: boolean;
  /** What the person will say, where a person is asked. */
  readonly verdict: 'merge' | 'hold';
}

export interface Plan {
  readonly deliveries: readonly Delivery[];
  /** The engine is killed when the desk gets its n-th call, for each of these n. */
  readonly killAtCalls: readonly number[];
}

/** The first four webhooks take the four routes; the others are drawn, two pull requests for each other one. */
const ROUTES: readonly Route[] = ['pull_request', 'issue', 'push', 'other'];
const DRAWN: readonly Route[] = ['pull_request', 'pull_request', 'issue', 'push', 'other'];

export function makePlan(seed: number, runCount: number): Plan {
  const random = seededRandom(seed, 'plan');
  const payloads = payloadsByRoute();
  const deliveries = Array.from({ length: runCount }, (_, index): Delivery => {
    const route = ROUTES[index] ?? random.pick(DRAWN);
    return {
      route,
      payload: random.pick(payloads[route]),
      deliveryId: randomUUID(),
      sentTwice: random.chance(30),
      verdict: random.chance(70) ? 'merge' : 'hold',
    };
  });
  return { deliveries, killAtCalls: killPlaces(seed, deliveries) };
}

/** One place in each third of the calls that come in any case, so that every kill finds work going on. */
function killPlaces(seed: number, deliveries: readonly Delivery[]): readonly number[] {
  const random = seededRandom(seed, 'kills');
  const callCount = deliveries.reduce((sum, delivery) => sum + surePathsOf(delivery).length, 0);
  const third = Math.max(1, Math.floor(callCount / 3));
  return [0, 1, 2].map((part) => part * third + random.between(1, third));
}

/** Effects of a run that do not depend on how the desk behaves, by their names after the instance id. */
export function surePathsOf({ route, payload, verdict }: Delivery): readonly string[] {
  switch (route) {
    case 'pull_request':
      return ['builds', 'scans', 'announcements', verdict === 'merge' ? 'merges' : 'holds', 'digests'];
    case 'push':
      return [...commitIds(payload).map((id) => `commits/${id}`), 'digests'];
    case 'issue':
    case 'other':
      return ['digests'];
    default:
      return route satisfies never;
  }
}
