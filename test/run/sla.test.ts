import { describe, expect, it } from 'vitest';
import { child, gate, loop, parallel, sleep, step, task, tries } from './support/blocks.ts';
import { type Played, play } from './support/play.ts';
import { answerAt, byAttempt, cancelAt, fails, ok, retryAt, retryably, signal } from './support/script.ts';

const RUN = { sla: { max_runtime: 1000 } };
const STEP = { sla: { max_step_runtime: 200 } };

/** Alerts with the milliseconds after the start at which they were written. */
const alertsOf = (run: Played) =>
  run.rows
    .filter(({ kind }) => kind === 'sla')
    .map((row) => [row.blockId, row.createdAt - run.world.startAt, row.runNo] as const);

describe('the SLA of a run', () => {
  it('alerts once, at the first instant beyond it, and the run goes on [SLA-1]', async () => {
    const run = await play({ blocks: [sleep('s', 5000), step('a')], members: RUN });
    expect(run.state).toBe('completed');
    expect(alertsOf(run)).toEqual([['_sla:runtime', 1001, 1]]);
    expect(run.rows.find(({ kind }) => kind === 'sla')).toMatchObject({
      attempt: 0,
      output: { _sla_breach: 'max_runtime', _alerted_at: '2027-02-01T09:00:01.001Z' },
    });
    expect(run.endedMs).toBe(5000);
  });

  it('says nothing about a run that is in time [SLA-1]', async () => {
    expect(alertsOf(await play({ blocks: [sleep('s', 1000)], members: RUN }))).toEqual([]);
  });

  const WAITS = {
    'a gate': { blocks: [gate('g')], events: [answerAt(5000, 'g', { value: 'yes' })] },
    'a worker': { blocks: [task('w')], on: { w: ok(1, { takesMs: 5000 }) } },
    'a long handler': { blocks: [step('a')], on: { a: ok(1, { takesMs: 5000 }) } },
    'a retry': {
      blocks: [step('a', tries(2, 5000))],
      on: { a: byAttempt(retryably('busy'), ok(1)) },
    },
    'a child': {
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [sleep('s', 5000)] } },
    },
    'a pause': {
      blocks: [sleep('s', 100)],
      events: [signal(50, 'pause'), signal(5000, 'resume')],
    },
    'a poll': { blocks: [loop('l', [step('a')], { poll_interval: 5 })] },
  };
  for (const [name, scenario] of Object.entries(WAITS)) {
    it(`is watched while the run rests or works: ${name} [SLA-1] [SLA-3]`, async () => {
      const run = await play({ ...scenario, members: RUN });
      expect(run.state).toBe('completed');
      expect(alertsOf(run)).toEqual([['_sla:runtime', 1001, 1]]);
    });
  }

  it('counts anew after a retry: once per run [SLA-1]', async () => {
    const run = await play({
      blocks: [sleep('s', 1500), step('x'), sleep('t', 1500)],
      members: RUN,
      on: { x: ({ runNo }) => (runNo === 1 ? fails('no') : ok()) },
      events: [retryAt(2000)],
    });
    expect(run.state).toBe('completed');
    expect(alertsOf(run)).toEqual([
      ['_sla:runtime', 1001, 1],
      ['_sla:runtime', 3001, 2],
    ]);
  });

  it('does not change what the wire shows of the next time', async () => {
    const run = await play({ blocks: [gate('g')], members: RUN, untilMs: 900 });
    expect(run.instance).toMatchObject({ state: 'waiting', nextFireAt: null });
    expect(run.instance.dueAt).toBe(run.world.startAt + 1001);
  });

  it('queues one webhook, writes one entry of the journal, and needs no commit of its own [SLA-1] [AUD-2]', async () => {
    const run = await play({ blocks: [sleep('s', 5000)], members: RUN });
    const sent = run.world.commits.flatMap(({ webhooks = [] }) => webhooks);
    const alerts = sent.filter(({ eventType }) => eventType === 'instance.sla_breached');
    expect(alerts).toMatchObject([
      {
        eventType: 'instance.sla_breached',
        payload: {
          event_type: 'instance.sla_breached',
          instance_id: run.instance.id,
          data: { kind: 'max_runtime', limit_ms: 1000, elapsed_ms: 1001, state: 'running' },
        },
      },
    ]);
    const notes = run.world.commits.flatMap(({ journal }) =>
      journal.filter(({ kind }) => kind === 'sla_breach'),
    );
    expect(notes).toHaveLength(1);
  });

  it('ends with the run, also when a cancel drains late', async () => {
    const run = await play({ blocks: [sleep('s', 5000)], members: RUN, events: [cancelAt(500)] });
    expect(alertsOf(run)).toEqual([]);
    expect(run.instance.dueAt).toBeNull();
  });
});

describe('the SLA of steps', () => {
  it('alerts once per step and run, wherever the step stands [SLA-2]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a'), sleep('s', 500)], [loop('l', [task('w')])]]), step('z')],
      members: STEP,
      on: { a: ok(1, { takesMs: 250 }), w: ok(1, { takesMs: 300 }), z: ok(1, { takesMs: 200 }) },
    });
    expect(run.state).toBe('completed');
    expect(alertsOf(run).toSorted((a, b) => (a[0] < b[0] ? -1 : 1))).toEqual([
      ['_sla:step:a', 201, 1],
      ['_sla:step:s', 451, 1],
      ['_sla:step:w', 201, 1],
    ]);
  });

  it('counts from the first try of a step to its end, gates and waits included [SLA-2]', async () => {
    const run = await play({
      blocks: [step('a', tries(3, 150)), gate('g')],
      members: STEP,
      on: { a: byAttempt(retryably('busy'), retryably('busy'), ok()) },
      events: [answerAt(1000, 'g', { value: 'yes' })],
    });
    expect(alertsOf(run)).toEqual([
      ['_sla:step:a', 201, 1],
      ['_sla:step:g', 501, 1],
    ]);
  });
});

it('a dry run has no SLA [DRY-4]', async () => {
  const run = await play({
    blocks: [gate('g')],
    members: { sla: { max_runtime: 10, max_step_runtime: 10 } },
    dryRun: true,
    events: [answerAt(5000, 'g', { value: 'yes' })],
  });
  expect([run.state, alertsOf(run)]).toEqual(['completed', []]);
  expect(run.world.commits.flatMap(({ webhooks = [] }) => webhooks)).toEqual([]);
});
