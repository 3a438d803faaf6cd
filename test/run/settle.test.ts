import { describe, expect, it } from 'vitest';
import { giveUp } from '../../src/core/run/advance.ts';
import { settle } from '../../src/core/run/settle.ts';
import { INSTANCE_STATES, wayTo } from '../../src/core/run/states.ts';
import { child, gate, loop, parallel, sleep, step, task, tries } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { draftOf } from './support/draft.ts';
import { ok, retryably } from './support/script.ts';

describe('transitions', () => {
  const direct = [
    'scheduled running',
    'scheduled paused',
    'scheduled cancelled',
    'running scheduled',
    'running waiting',
    'running paused',
    'running completed',
    'running failed',
    'running cancelled',
    'waiting scheduled',
    'waiting running',
    'waiting failed',
    'waiting cancelled',
    'paused scheduled',
    'paused cancelled',
  ];
  for (const from of INSTANCE_STATES) {
    for (const to of INSTANCE_STATES) {
      it(`goes from ${from} to ${to} by legal steps only [INS-10]`, () => {
        const way = wayTo(from, to);
        const steps = way.map((state, index) => `${index === 0 ? from : way[index - 1]} ${state}`);
        expect(steps.filter((taken) => !direct.includes(taken))).toEqual([]);
        expect(way.length === 1).toBe(direct.includes(`${from} ${to}`));
        const ended = from === 'completed' || from === 'failed' || from === 'cancelled';
        expect(way.at(-1)).toBe(ended || from === to ? undefined : to);
      });
    }
  }

  it('writes one audit row per visible change, in order, none for the claim [AUD-1]', async () => {
    const run = await playOnce({
      blocks: [task('w'), step('a', { delay: { duration: 100 } })],
      on: { w: ok(null, { takesMs: 50 }) },
    });
    const audit = (await run.world.store.listAudit(null, run.instance.id, 100)) ?? [];
    expect(audit.map((row) => `${row.fromState} ${row.toState}`).toReversed()).toEqual([
      'running waiting',
      'waiting scheduled',
      'running scheduled',
      'running completed',
    ]);
  });
});

describe('end of a turn', () => {
  const busy = { on: { r: retryably('busy') } };
  const rules: readonly (readonly [string, readonly ReturnType<typeof step>[], object])[] = [
    [
      'parked while a sleep runs',
      [sleep('s', 500), gate('g')],
      { state: 'running', nextFireAt: null, due: 500, openWaits: 1 },
    ],
    [
      'parked to the earliest wake of all',
      [sleep('s', 500), step('d', { delay: { duration: 200 } })],
      { state: 'running', nextFireAt: null, due: 200 },
    ],
    [
      'scheduled for a delay',
      [step('d', { delay: { duration: 200 } }), task('w')],
      { state: 'scheduled', due: 200, openWaits: 1 },
    ],
    ['scheduled for a retry', [step('r', tries(2, 300))], { state: 'scheduled', due: 300 }],
    [
      'scheduled for a poll',
      [loop('l', [step('a')], { poll_interval: 2 })],
      { state: 'scheduled', due: 2000 },
    ],
    [
      'scheduled with timeouts included',
      [step('d', { delay: { duration: 900 } }), gate('g', { timeout: 100 })],
      { state: 'scheduled', due: 101 },
    ],
    ['waiting for a worker', [task('w')], { state: 'waiting', due: null, openWaits: 1 }],
    [
      'waiting with the earliest timeout',
      [task('w', { timeout: 700 }), gate('g', { timeout: 300 })],
      { state: 'waiting', due: 301, openWaits: 2 },
    ],
    ['waiting for a child', [child('c', 'inner')], { state: 'waiting', due: null, openWaits: 1 }],
  ];
  for (const [name, branches, expected] of rules) {
    it(`leaves the instance ${name} 6.4`, async () => {
      const { due, nextFireAt, ...rest } = expected as { due: number | null; nextFireAt?: null };
      const run = await play({
        blocks: [
          parallel(
            'p',
            branches.map((block) => [block]),
          ),
        ],
        sequences: { inner: { blocks: [gate('h')] } },
        ...busy,
        untilMs: 50,
      });
      const at = due === null ? null : run.world.startAt + due;
      expect(run.instance).toMatchObject({ ...rest, dueAt: at, nextFireAt: nextFireAt === null ? null : at });
    });
  }

  it('leaves what did not fit for the next round, and nothing is lost 6.4', async () => {
    const run = await play({
      blocks: [
        parallel(
          'p',
          [1, 2, 3, 4, 5].map((n) => [step(`a${n}`), step(`b${n}`)]),
        ),
      ],
      room: 2,
    });
    expect(run.state).toBe('completed');
    expect(run.calls.length).toBe(10);
  });
});

describe('a run that is given up', () => {
  const failure = { message: 'again and again', retryable: false, code: 'MAX_RETRIES_EXCEEDED' };

  it('fails with the leaf that was in flight [REC-3]', async () => {
    const draft = await draftOf(
      { blocks: [parallel('p', [[loop('l', [step('a'), step('z')])], [task('w')]])] },
      (frames) => frames,
    );
    giveUp(draft, failure);
    const settled = settle(draft);
    expect(settled).toMatchObject({
      state: 'failed',
      failure: { blockId: 'a', error: { code: 'MAX_RETRIES_EXCEEDED' } },
    });
    const changes = draft.takeChanges();
    const said = changes.rows.map((row) => `${row.blockId} ${row.kind}`);
    expect(said).toEqual(['a node', 'l node', 'p node', 'w node', 'a error']);
    expect(changes.tasksClosed.length).toBe(1);
  });

  it('fails with the block that was next when nothing was in flight [REC-3]', async () => {
    const draft = await draftOf({ blocks: [step('b')] }, () => []);
    giveUp(draft, failure);
    expect(draft.givenUp).toMatchObject({ blockId: 'b', failure });
  });
});
