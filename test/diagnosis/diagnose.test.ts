import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/core/diagnosis/diagnose.ts';
import type { DiagnosisFacts } from '../../src/core/diagnosis/facts.ts';
import type { DiagnosisCode } from '../../src/core/diagnosis/finding.ts';
import { facts, ID, instance, NOW, signal, standing, surroundings, task } from './facts.ts';
import { DASHBOARD_TABLE } from './dashboard-table.ts';
import { alive, gate, open, TABLE, waiting } from './table.ts';

const ALL = [...TABLE, ...DASHBOARD_TABLE];

const find = (given: Partial<DiagnosisFacts>, code: DiagnosisCode) =>
  diagnose(facts(given)).filter((one) => one.code === code);
const codes = (given: Partial<DiagnosisFacts>) => diagnose(facts(given)).map(({ code }) => code);
const one = (given: Partial<DiagnosisFacts>, code: DiagnosisCode) => {
  const found = find(given, code);
  expect(found).toHaveLength(1);
  return found[0];
};

describe('the table of diagnoses [API 7.1]', () => {
  it.each(ALL)(
    '%s is said of %s',
    (code, _what, given, [category, confidence, health, severity], remedies) => {
      expect(one(given, code)).toMatchObject({ category, confidence, health, severity });
      const shown = one(given, code)?.remediation.map(({ command, sideEffectRisk: risk, action }) => ({
        ...(command === undefined ? {} : { command }),
        risk,
        ...(action === undefined ? {} : { action }),
      }));
      expect(shown).toEqual(remedies);
    },
  );

  it.each([
    ['TERMINAL_STATE', { instance: instance({ state: 'cancelled' }) }, 'cancelled'],
    ['PENDING_APPROVAL', { leaves: [standing({ reason: 'input', gate })] }, "'ask'"],
    ['NO_COMPATIBLE_WORKER', { tasks: [task()] }, 'no live worker'],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      "handler 'parcel_lookup'",
    ],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      'retries resume in 12 s',
    ],
    ['CONCURRENCY_BLOCKED', ALL.find(([code]) => code === 'CONCURRENCY_BLOCKED')?.[2] ?? {}, '2 of 2 slots'],
    ['RETRY_BACKOFF', ALL.find(([code]) => code === 'RETRY_BACKOFF')?.[2] ?? {}, 'try 3 of 4'],
  ] as const)('the summary of %s, case %#, tells what it must', (code, given, text) => {
    expect(one(given, code)?.summary).toContain(text);
  });

  it.each([
    [
      'WAITING_UNTIL',
      { instance: instance({ nextFireAt: NOW + 1000 }) },
      'next_fire_at',
      '2027-02-11T09:00:01.000Z',
    ],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      'opened_at',
      '2027-02-11T08:59:12.000Z',
    ],
    [
      'PENDING_APPROVAL',
      { leaves: [standing({ reason: 'input', gate })] },
      'waiting_since',
      '2027-02-11T08:00:00.000Z',
    ],
    [
      'BUDGET_PAUSED',
      ALL.find(([code]) => code === 'BUDGET_PAUSED')?.[2] ?? {},
      'budget',
      'max_steps 3, used 4',
    ],
  ] as const)('%s rests on %#', (code, given, label, summary) => {
    expect(one(given, code)?.evidence).toContainEqual(expect.objectContaining({ label, summary }));
  });

  it('a command to copy quotes what a shell would read otherwise', () => {
    const leaves = [standing({ reason: 'input', gate }, { blockId: "x'; rm -rf ~ #" })];
    const word = String.raw`'custom:human_input:x'\''; rm -rf ~ #'`;
    const [remedy] = one({ leaves }, 'PENDING_APPROVAL')?.remediation ?? [];
    expect(remedy?.command).toBe(`orch8 signal ${ID} ${word} '{"value":"yes"}'`);
  });

  it('secrets in an error are not shown as evidence', () => {
    const given = ALL.find(([code]) => code === 'RETRY_BACKOFF')?.[2] ?? {};
    expect(JSON.stringify(one(given, 'RETRY_BACKOFF'))).not.toContain('abc');
  });
});

describe('which diagnoses stand beside each other', () => {
  it('an ended instance has one, whatever else is known', () => {
    const ended = instance({ state: 'failed', dueAt: NOW - 900_000, nextFireAt: NOW + 1 });
    expect(codes({ instance: ended, tasks: [task()], surroundings: null, sequence: 'missing' })).toEqual([
      'TERMINAL_STATE',
    ]);
  });

  it('they are ordered by category, then confidence, then code', () => {
    const given = {
      instance: instance({ state: 'waiting', dueAt: NOW - 300_001, updatedAt: NOW }),
      leaves: [standing({ reason: 'input', gate }), standing({ reason: 'event' })],
      tasks: [task({ createdAt: NOW - 500_000 }), task()],
      inbox: [signal('pause', NOW - 70_000)],
      surroundings: surroundings({ workers: alive, breakers: [{ ...open, handler: 'a', state: 'open' }] }),
    };
    expect(codes(given)).toEqual([
      'PENDING_APPROVAL',
      'WAITING_EVENT',
      'WAITING_WORKER_PICKUP',
      'WORKER_NOT_CLAIMING',
      'SCHEDULER_LAG',
      'SIGNALS_NOT_CONSUMED',
      'OPEN_CIRCUIT_BREAKER',
    ]);
  });

  it('a paused instance does not wait for its due time, and its tasks are nobody’s fault', () => {
    const given = { instance: instance({ state: 'paused', nextFireAt: NOW + 1000 }), tasks: [task()] };
    expect(codes(given)).toEqual(['PAUSED']);
  });

  it('a paused run does not wait for the end of its sleep, nor for the next pass of its loop [API 7.1]', () => {
    const given = {
      instance: instance({ state: 'paused', dueAt: null }),
      leaves: [standing({ state: 'running', reason: 'sleep', wakeAt: NOW + 60_000 })],
      polls: [{ blockId: 'poll', until: NOW + 60_000 }],
    };
    expect(codes(given)).toEqual(['PAUSED']);
  });

  it('what keeps a run to its due time comes before the due time', () => {
    const given = {
      instance: instance({ nextFireAt: NOW + 5000 }),
      leaves: [standing({ reason: 'send_window', wakeAt: NOW + 5000 })],
    };
    expect(codes(given)).toEqual(['SEND_WINDOW', 'WAITING_UNTIL']);
  });

  it('a parked sleep waits until its end and is not stale', () => {
    const parked = instance({ state: 'running', dueAt: NOW + 900_000, updatedAt: NOW - 900_000 });
    const leaves = [standing({ state: 'running', reason: 'sleep', wakeAt: NOW + 900_000 })];
    expect(codes({ instance: parked, leaves })).toEqual(['WAITING_UNTIL']);
  });

  it('a lease that is renewed keeps a long step from being stale', () => {
    const busy = instance({ state: 'running', dueAt: null, leaseUntil: NOW + 1, updatedAt: NOW - 900_000 });
    expect(codes({ instance: busy })).toEqual(['NO_BLOCKER_FOUND']);
  });

  it('an answer that is early for its gate is no lost signal [HI-6]', () => {
    const inbox = [signal('custom:human_input:ask', NOW - 900_000)];
    expect(codes({ inbox })).toEqual(['NO_BLOCKER_FOUND']);
    const leaves = [standing({ reason: 'input', gate })];
    expect(codes({ inbox, leaves })).toContain('SIGNALS_NOT_CONSUMED');
  });

  it('the end of a child on its way is no inconsistency', () => {
    const leaves = [standing({ reason: 'child', childId: 'c-1' })];
    const fact = { kind: 'child', childId: 'c-1', blockId: 'ask', state: 'completed', error: null } as const;
    const inbox = [{ seq: 1, id: 'f', acceptedAt: NOW, fact }];
    const near = surroundings({ children: [{ id: 'c-1', state: 'completed' }] });
    expect(codes({ instance: waiting, leaves, inbox, surroundings: near })).not.toContain(
      'CHILDREN_DONE_PARENT_WAITING',
    );
  });

  it('what could not be read is not concluded from', () => {
    const given = { instance: waiting, tasks: [task()], surroundings: null };
    expect(codes(given)).toEqual(['WAITING_EXTERNAL_EVENT', 'EVIDENCE_INCOMPLETE']);
  });
});
