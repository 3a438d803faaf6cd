import { describe, expect, it } from 'vitest';
import { finishCall } from '../../src/core/run/advance.ts';
import { InstanceDraft } from '../../src/core/run/instance-draft.ts';
import { Knowledge } from '../../src/core/run/knowledge.ts';
import { compilePlan } from '../../src/core/run/plan.ts';
import { mayStillCome } from '../../src/core/run/upcoming.ts';
import {
  child,
  forEach,
  gate,
  loop,
  parallel,
  race,
  router,
  saga,
  sleep,
  step,
  task,
  tryCatch,
} from './support/blocks.ts';
import { draftOf } from './support/draft.ts';
import { play, playOnce } from './support/play.ts';
import { ok } from './support/script.ts';
import { planOfBlocks } from './support/world.ts';

describe('what one commit begins and drops', () => {
  it('makes no task for a step that loses before the commit (RULINGS B25)', async () => {
    const run = await play({ blocks: [parallel('p', [[task('w')], []], { min_successful: 1 }), step('z')] });
    expect(run.tree).toEqual({ p: 'completed', w: 'cancelled', z: 'completed' });
    const tasks = { states: ['pending', 'claimed', 'completed', 'failed'] as const, limit: 10, offset: 0 };
    const all = { tenantId: null, handlerName: null, workerId: null, queueName: null, ...tasks };
    expect(await run.world.store.listTasks(all)).toEqual([]);
    expect(run.instance.totalSteps).toBe(1);
  });

  it('starts no child for a node that loses before the commit [SUB-9]', async () => {
    const run = await playOnce({
      blocks: [loop('l', [race('r', [[child('c', 'inner')], []])])],
      sequences: { inner: { blocks: [step('i')] } },
    });
    expect(await run.world.store.listChildren(null, run.instance.id)).toEqual([]);
  });

  it('lets the branch that has to read first win when it is the first [RACE-2]', async () => {
    const run = await play({
      blocks: [
        step('x'),
        sleep('s', 100),
        race('r', [[step('a', { when: 'outputs.x.from == 1' })], [step('b', { when: 'false' })]]),
      ],
    });
    expect(run.nodes.find((node) => node.blockId === 'r')?.decision).toEqual({ winner: 0 });
  });
});

describe('texts that read outputs of earlier turns', () => {
  const early = [step('x'), sleep('s', 100)];
  const on = { x: ok({ list: [1, 2], go: 1 }) };

  it('are answered in loops, for_each, routers, guards, inputs and races alike', async () => {
    const run = await play({
      blocks: [
        ...early,
        loop('l', [step('a')], { condition: 'outputs.x.go == 1', max_iterations: 2 }),
        forEach('f', '{{outputs.x.list}}', [step('b')]),
        router('r', [['outputs.x.go == 1', [step('c')]]]),
        step('d', { when: 'outputs.x.go == 1' }),
        child('k', 'inner', { input: '{{outputs.x}}' }),
      ],
      sequences: { inner: { blocks: [step('i', { params: { v: '{{data.go}}' } })] } },
      on,
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['x', 'a@l:0', 'a@l:1', 'b@f:0', 'b@f:1', 'c', 'd', 'i']);
    expect(run.calls.at(-1)?.params).toEqual({ v: 1 });
  });

  it('are answered when a loop decides after a wait [LOOP-2] [LOOP-6]', async () => {
    const run = await play({
      blocks: [
        ...early,
        loop('l', [sleep('n', 10)], {
          condition: 'outputs.x.go == 1',
          break_on: 'outputs.x.go == 2',
          poll_interval: 1,
          max_iterations: 3,
        }),
      ],
      on,
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 2130]);
  });

  it('are answered for the condition of an assert step', () => {
    const references = (condition: unknown) =>
      compilePlan(
        planOfBlocks([step('a', { handler: 'assert', params: { condition: condition as never } })]).document,
      ).references.get('a')?.outputs;
    expect(references('outputs.x.ok')).toEqual(new Set(['x']));
    expect(references('{{data.text}}')).toBe('all');
    expect(references(7)).toEqual(new Set());
  });
});

describe('what a turn knows', () => {
  it('is not overwritten by what is read later', () => {
    const knowledge = new Knowledge({ hasHistory: true });
    const everything = { outputs: 'all' as const, state: 'all' as const };
    expect(knowledge.covers(everything)).toBe(false);
    knowledge.setOutput('a', 'mine');
    knowledge.setState('k', 'mine');
    knowledge.setState('gone', undefined);
    const needs = knowledge.takeNeeds();
    const old = {
      outputs: new Map([
        ['a', 'old'],
        ['b', 'old'],
      ]),
      state: new Map([
        ['k', 'old'],
        ['gone', 'old'],
      ]),
    };
    if (needs !== null) knowledge.learn(needs, old);
    expect([...knowledge.knownOutputs]).toEqual([
      ['a', 'mine'],
      ['b', 'old'],
    ]);
    expect([...knowledge.knownState]).toEqual([['k', 'mine']]);
    expect(knowledge.stateValue('gone')).toEqual({ value: undefined });
    expect(knowledge.covers(everything)).toBe(true);
    expect(knowledge.takeNeeds()).toBe(null);
  });
});

describe('data of an instance in one commit', () => {
  const draft = async (): Promise<InstanceDraft> =>
    new InstanceDraft((await draftOf({ blocks: [step('a')], data: { a: 1, b: 2 } }, () => [])).record);

  it('is set, removed and set again key by key [CTX-4]', async () => {
    const instance = await draft();
    instance.setData({ c: 3 });
    instance.removeData('c');
    instance.removeData('a');
    instance.removeData('nothing');
    instance.setData({ a: 9 });
    expect(instance.record.data).toEqual({ a: 9, b: 2 });
    expect(instance.takePatch()).toEqual({ dataSet: { a: 9 }, dataRemoved: ['c'] });
    expect(instance.hasChanges).toBe(false);
  });

  it('is replaced as a whole, whatever was set before [CTX-3]', async () => {
    const instance = await draft();
    instance.setData({ c: 3 });
    instance.removeData('a');
    instance.replaceData(['x']);
    instance.setData({ d: 4 });
    expect(instance.record.data).toEqual({ d: 4 });
    expect(instance.takePatch()).toEqual({ data: ['x'], dataSet: { d: 4 } });
  });
});

describe('late results', () => {
  it('go to the journal when their leaf is not there any more [CAN-8] (RULINGS A40)', async () => {
    const draft = await draftOf({ blocks: [race('r', [[step('a')], [step('b')]])] }, () => []);
    draft.frames.clear();
    const dispatch = { frameKey: 'nowhere', blockId: 'a', attempt: 0, shielded: false };
    finishCall(draft, dispatch as never, { ok: true, output: 1, writes: [] });
    finishCall(draft, dispatch as never, { ok: false, failure: { message: 'no', retryable: false } });
    expect(draft.takeChanges().journal.map((entry) => entry.details['outcome'])).toEqual([
      'succeeded',
      'failed',
    ]);
  });

  it('change nothing of a run that has ended', async () => {
    const run = await playOnce({
      blocks: [race('r', [[step('slow')], [step('fast')]])],
      on: { slow: ok('late', { takesMs: 500 }), fast: ok('first', { takesMs: 10 }) },
    });
    expect(run.outputs).toEqual(['fast="first"']);
  });
});

describe('blocks that may still come', () => {
  const plan = [
    step('a'),
    tryCatch('t', [sleep('s', 900)], [gate('in_catch')], [gate('in_finally')]),
    router('r', [['true', [gate('in_route')]]], [gate('in_default')]),
    saga('g', [[gate('in_action'), gate('in_undo')]]),
    parallel('p', [[gate('in_branch'), gate('behind')], []]),
    loop('l', [router('q', [['false', [gate('in_loop')]]]), sleep('n', 900)]),
  ];
  const reachable = async (untilMs: number): Promise<Record<string, boolean>> => {
    const run = await playOnce({ blocks: plan, untilMs, answers: { in_route: yes(0), in_action: yes(0) } });
    const draft = await draftOf({ blocks: plan }, () => run.frontier.frames);
    const ids = [
      'in_catch',
      'in_finally',
      'in_route',
      'in_default',
      'in_action',
      'in_branch',
      'behind',
      'in_loop',
    ];
    return Object.fromEntries(ids.map((id) => [id, mayStillCome(draft, id)]));
  };
  const yes = (afterMs: number) => ({ payload: { value: 'yes' }, afterMs });

  it('are those at or behind a cursor, while their list may be reached [HI-6]', async () => {
    expect(await reachable(100)).toEqual({
      in_catch: true,
      in_finally: true,
      in_route: true,
      in_default: true,
      in_action: true,
      in_branch: true,
      behind: true,
      in_loop: true,
    });
  });

  it('are not those that were passed over or are behind the run', async () => {
    const run = await playOnce({
      blocks: plan,
      answers: { in_finally: yes(0), in_route: yes(0), in_action: yes(0) },
      untilMs: 2000,
    });
    expect(run.tree).toMatchObject({ in_catch: 'skipped', in_branch: 'waiting:input' });
    const draft = await draftOf({ blocks: plan }, () => run.frontier.frames);
    const of = (id: string): boolean => mayStillCome(draft, id);
    expect(['in_catch', 'in_finally', 'in_route', 'in_default', 'in_action'].filter(of)).toEqual([]);
    expect(['in_branch', 'behind', 'in_loop', 'nowhere'].filter(of)).toEqual([
      'in_branch',
      'behind',
      'in_loop',
      'nowhere',
    ]);
  });
});
