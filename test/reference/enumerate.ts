import type { Json, JsonObject } from '../../src/core/json.ts';
import type { Answer, Happening, World } from './world.ts';

/**
 * Small worlds without chance: every block in every block, with every kind of event at moments before, during and
 * between the steps. Durations are chosen so that no two things happen at one instant.
 */
export interface SmallWorld {
  readonly name: string;
  readonly world: World;
}

const OUTER = [
  'parallel',
  'race',
  'router',
  'try',
  'catch',
  'finally',
  'loop',
  'for_each',
  'a_b_split',
  'scope',
  'action',
  'compensation',
] as const;
const INNER = [...OUTER, 'sub_sequence', 'step'] as const;
type Kind = (typeof INNER)[number];

/** What happens to the innermost steps. */
const FATES = [
  'ok',
  'fails',
  'fails_once',
  'times_out',
  'worker',
  'worker_fails',
  'gate',
  'protected',
  'sleep',
] as const;
type Fate = (typeof FATES)[number];

const EVENTS = [
  'none',
  'cancel',
  'set_cancelled',
  'pause_resume',
  'pause',
  'retry',
  'update_context',
] as const;
type EventKind = (typeof EVENTS)[number];

const MOMENTS = [53, 1511, 4003] as const;

export function* smallWorlds(): Generator<SmallWorld> {
  for (const outer of OUTER) {
    for (const inner of INNER) {
      for (const fate of FATES) {
        for (const event of EVENTS) {
          const moments = event === 'none' ? [0] : MOMENTS;
          for (const moment of moments) {
            yield {
              name: [outer, inner, fate, event, moment].join(' '),
              world: smallWorld(outer, inner, fate, event, moment),
            };
          }
        }
      }
    }
  }
}

function smallWorld(outer: Kind, inner: Kind, fate: Fate, event: EventKind, moment: number): World {
  const innermost = [fatedStep('x', fate), step('y')];
  const blocks = [step('before'), wrap(outer, 'o', wrap(inner, 'i', innermost)), step('after')].flat();
  return {
    main: { name: 'main', blocks },
    others: [{ name: 'child', blocks: [fatedStep('cx', fate === 'gate' ? 'ok' : fate), step('cy')] }],
    data: { list: [1, 2], n: 1 },
    answers: {
      before: took(211),
      after: took(223),
      y: took(1013),
      cy: took(1019),
      beside: took(7001),
      ...fates(fate),
    },
    happenings: happenings(event, moment, fate).toSorted((left, right) => left.at - right.at),
  };
}

const step = (id: string, members: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'act',
  ...members,
});
const took = (takeMs: number): readonly Answer[] => [{ kind: 'ok', takeMs, output: { v: 1 } }];
const failing = (takeMs: number, retryable: boolean): Answer => ({
  kind: 'fail',
  takeMs,
  retryable,
  code: 'BROKEN',
});

/** Two tries, so that `fails_once` gets over it. */
const RETRY = { retry: { max_attempts: 2, initial_backoff: 307, max_backoff: 307 } };

function fatedStep(id: string, fate: Fate): JsonObject {
  switch (fate) {
    case 'ok':
    case 'fails':
      return step(id);
    case 'fails_once':
      return step(id, RETRY);
    case 'times_out':
      return step(id, { ...RETRY, timeout: 1103 });
    case 'worker':
    case 'worker_fails':
      return step(id, { handler: 'worker_act' });
    case 'gate':
      return step(id, { wait_for_input: { timeout: 9001 } });
    case 'protected':
      return step(id, { cancellable: false });
    case 'sleep':
      return { type: 'step', id, handler: 'sleep', params: { duration_ms: 2503 } };
  }
}

function fates(fate: Fate): { readonly [block: string]: readonly Answer[] } {
  const both = (x: readonly Answer[]): { readonly [block: string]: readonly Answer[] } => ({ x, cx: x });
  if (fate === 'fails' || fate === 'worker_fails') return both([failing(2003, false)]);
  if (fate === 'fails_once') return both([failing(1201, true), { kind: 'ok', takeMs: 1301, output: null }]);
  return both([{ kind: 'ok', takeMs: 2003, output: { v: 1 } }]);
}

function happenings(event: EventKind, at: number, fate: Fate): Happening[] {
  const signal = (type: 'pause' | 'resume' | 'cancel', when: number): Happening => ({
    at: when,
    kind: 'signal',
    type,
    payload: null,
  });
  const answer: Happening[] =
    fate === 'gate'
      ? [{ at: 3203, kind: 'signal', type: { custom: 'human_input:x' }, payload: { value: 'yes' } }]
      : [];
  switch (event) {
    case 'none':
      return answer;
    case 'cancel':
      return [...answer, signal('cancel', at)];
    case 'set_cancelled':
      return [...answer, { at, kind: 'set_state', state: 'cancelled' }];
    case 'pause_resume':
      return [...answer, signal('pause', at), signal('resume', at + 1709)];
    case 'pause':
      return [...answer, signal('pause', at)];
    case 'retry':
      return [...answer, { at: at + 90_001, kind: 'retry' }];
    case 'update_context':
      return [...answer, { at, kind: 'signal', type: 'update_context', payload: { data: { n: 0 } } }];
  }
}

/** The blocks inside one of this kind; ids begin with `id`. */
function wrap(kind: Kind, id: string, blocks: readonly JsonObject[]): JsonObject[] {
  const fails = { type: 'step', id: `${id}_fails`, handler: 'fail', params: { code: 'FORCED' } };
  const noop = { type: 'step', id: `${id}_noop`, handler: 'noop' };
  const beside = step(`${id}_beside`);
  const of = (members: JsonObject): JsonObject[] => [{ id, ...members }];
  const list: Json = blocks;
  switch (kind) {
    case 'step':
      return [...blocks];
    case 'parallel':
      return of({ type: 'parallel', branches: [list, [beside]] });
    case 'race':
      return of({ type: 'race', branches: [list, [step(`${id}_beside`, { delay: { duration: 6007 } })]] });
    case 'router':
      return of({ type: 'router', routes: [{ condition: 'data.n == 1', blocks: list }], default: [noop] });
    case 'try':
      return of({ type: 'try_catch', try_block: list, catch_block: [noop], finally_block: [beside] });
    case 'catch':
      return of({ type: 'try_catch', try_block: [fails], catch_block: list });
    case 'finally':
      return of({ type: 'try_catch', try_block: [noop], catch_block: [], finally_block: list });
    case 'loop':
      return of({
        type: 'loop',
        condition: 'true',
        max_iterations: 2,
        body: list,
        continue_on_error: id === 'i',
      });
    case 'for_each':
      return of({ type: 'for_each', collection: 'list', item_var: id, body: list });
    case 'a_b_split':
      return of({
        type: 'a_b_split',
        variants: ['x', 'y'].map((name) => ({
          name,
          weight: name === 'x' ? 1 : 0,
          blocks: name === 'x' ? list : [noop],
        })),
      });
    case 'scope':
      return of({ type: 'cancellation_scope', blocks: list });
    case 'action':
      return of({
        type: 'saga',
        steps: [
          { id: `${id}_1`, action: beside, compensation: noop },
          { id: `${id}_2`, action: { type: 'cancellation_scope', id: `${id}_all`, blocks: list } },
        ],
      });
    case 'compensation':
      return of({
        type: 'saga',
        steps: [
          {
            id: `${id}_1`,
            action: noop,
            compensation: { type: 'parallel', id: `${id}_all`, branches: [list] },
          },
          { id: `${id}_2`, action: fails },
        ],
      });
    case 'sub_sequence':
      return [...of({ type: 'sub_sequence', sequence_name: 'child', input: { n: 1 } }), ...blocks];
  }
}
