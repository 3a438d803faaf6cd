import { describe, expect, it } from 'vitest';
import type { Instance } from '../../examples/github-webhooks/engine-api.ts';
import type { LedgerEntry } from '../../examples/github-webhooks/ledger.ts';
import { commitIds, payloadsByRoute } from '../../examples/github-webhooks/payloads.ts';
import { type Delivery, makePlan, surePathsOf } from '../../examples/github-webhooks/plan.ts';
import { type Run, verify } from '../../examples/github-webhooks/verify.ts';

const payloads = payloadsByRoute();

function run(route: Delivery['route'], more: Partial<Run> = {}): Run {
  const [payload] = payloads[route];
  if (payload === undefined) throw new Error(`no payload for ${route}`);
  const delivery: Delivery = { route, payload, deliveryId: 'd', sentTwice: true, verdict: 'merge' };
  return { delivery, instanceId: `${route}-run`, repeatId: `${route}-run`, ...more };
}

function instance(id: string, state = 'completed'): Instance {
  return { id, state } as unknown as Instance;
}

function done(effect: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  const path = effect.split('/')[1] ?? '';
  return { effect, path, keys: [`key of ${effect}`], callCount: 1, doneCount: 1, hopeless: false, ...more };
}

const issue = run('issue');
const goodLedger = [done('issue-run/labels'), done('issue-run/digests')];

describe('the verdict of the example', () => {
  it('is good when the expected effects happened once each', () => {
    const findings = verify([issue], [instance('issue-run')], goodLedger);
    expect(findings).toEqual({
      violations: [],
      completedCount: 1,
      effectCount: 2,
      callCount: 2,
      savedCount: 0,
    });
  });

  it.each([
    ['a run that failed', [issue], [instance('issue-run', 'failed')], goodLedger, 'is failed, not completed'],
    ['a run that is missing', [issue], [], goodLedger, 'is missing'],
    [
      'a repeat that started another run',
      [run('issue', { repeatId: 'other' })],
      [instance('issue-run'), instance('other')],
      goodLedger,
      'a repeated delivery of run issue-run started run other',
    ],
    [
      'an effect under two keys',
      [issue],
      [instance('issue-run')],
      [done('issue-run/labels', { keys: ['a', 'b'] }), done('issue-run/digests')],
      'issue-run/labels was asked for under 2 keys',
    ],
    [
      'an effect that happened twice',
      [issue],
      [instance('issue-run')],
      [done('issue-run/labels', { doneCount: 2 }), done('issue-run/digests')],
      'issue-run/labels was done 2 times',
    ],
    [
      'one key for two effects',
      [issue],
      [instance('issue-run')],
      [done('issue-run/labels', { keys: ['k'] }), done('issue-run/digests', { keys: ['k'] })],
      'share the key k',
    ],
    [
      'an effect that never happened',
      [issue],
      [instance('issue-run')],
      [done('issue-run/labels')],
      'issue-run/digests never happened',
    ],
    [
      'an effect that nobody asked for',
      [issue],
      [instance('issue-run')],
      [...goodLedger, done('issue-run/triage')],
      'issue-run/triage should not have happened',
    ],
    [
      'a hopeless label without triage',
      [issue],
      [instance('issue-run')],
      [done('issue-run/labels', { doneCount: 0, hopeless: true }), done('issue-run/digests')],
      'issue-run/triage never happened',
    ],
  ])('is bad for %s', (_case, runs, instances, ledger, violation) => {
    expect(verify(runs, instances, ledger).violations.join('\n')).toContain(violation);
  });
});

describe('the plan of the example', () => {
  it('is the same for the same seed', () => {
    const told = (seed: number) => {
      const { deliveries, killAtCalls } = makePlan(seed, 12);
      return { killAtCalls, payloads: deliveries.map(({ payload, verdict }) => [payload.body, verdict]) };
    };
    expect(told(3)).toEqual(told(3));
    expect(told(3)).not.toEqual(told(4));
  });

  it.each([1, 2, 3, 4, 5])(
    'takes every route and kills the engine at three different calls (seed %i)',
    (seed) => {
      const { deliveries, killAtCalls } = makePlan(seed, 8);
      expect(new Set(deliveries.map(({ route }) => route)).size).toBe(4);
      const sureCount = deliveries.flatMap(surePathsOf).length;
      expect(killAtCalls).toEqual(killAtCalls.toSorted((a, b) => a - b));
      expect(new Set(killAtCalls).size).toBe(3);
      expect(Math.max(...killAtCalls)).toBeLessThanOrEqual(sureCount);
    },
  );

  it('has payloads for every route, and pushes whose commits have ids of their own', () => {
    for (const all of Object.values(payloads)) expect(all.length).toBeGreaterThan(1);
    for (const push of payloads.push) expect(new Set(commitIds(push)).size).toBe(commitIds(push).length || 1);
  });
});
