import fc from 'fast-check';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Plan } from '../../../src/core/run/plan.ts';
import { checkInjection } from '../../../src/core/run/reshape/check-injection.ts';
import {
  type BlockJson,
  type List,
  child,
  forEach,
  eventGate,
  gate,
  loop,
  parallel,
  pure,
  race,
  router,
  saga,
  scope,
  sleep,
  split,
  step,
  task,
  tries,
  tryCatch,
} from './blocks.ts';
import { type LeafKind, type Sketch, sketch } from './random-sketch.ts';
import { type Answer, type Call, type Scenario, fails, ok, retryably } from './script.ts';

/** Moods below this fail in their first run. */
export interface Temper {
  readonly permanent: number;
  readonly retryable: number;
  /** Some leaves inject others: a run that goes back would inject them again. */
  readonly injects?: boolean;
}

export interface RandomScenario extends Scenario {
  /** The leaves a cancel may let go on, by where they stand or what they say. */
  readonly shielded: ReadonlySet<string>;
  /** Leaves inside blocks that begin as a whole after a failure. */
  readonly resettable: ReadonlySet<string>;
}

export function randomScenario(temper: Temper): fc.Arbitrary<RandomScenario> {
  const root = fc.array(sketch(3), { minLength: 1, maxLength: 3 });
  return root.map((sketches) => new Builder(temper).build(sketches));
}

/** A quarter of the leaves share two tokens. */
const limited = ({ mood }: { readonly mood: number }): JsonObject =>
  mood % 4 === 0 ? { rate_limit_key: 'mail' } : {};

/** A step that injects another one into the root list, before, between or behind what is there ([OP-12]). */
function injecting(blockId: string, iteration: string, mood: number): Answer {
  const id = `late_${blockId}_${iteration.replaceAll(/[^a-z0-9]/g, '_')}`;
  const position = mood % 4 === 0 ? null : (mood % 4) - 1;
  const check = (plan: Plan) => checkInjection(plan, [pure(id)], position);
  return { ok: true, output: blockId, writes: [], takesMs: 0, injects: { check } };
}

const HOOKS = ['hook1', 'hook2', 'hook3'];

/** What runs around the steps of every scenario. */
const AROUND: JsonObject = {
  on_failure: [step('hook1'), task('hook2'), pure('hook3')],
  on_cancel: [pure('hook1'), step('hook3'), task('hook2')],
  interceptors: {
    before_step: { handler: 'effect:trace', params: 'before' },
    after_step: { handler: 'effect:trace', invoke: true, params: '{{step.id}}' },
    on_signal: { handler: 'effect:trace' },
    on_complete: { handler: 'effect:trace' },
    on_failure: { handler: 'effect:trace' },
  },
  sla: { max_runtime: 3001 },
};

/** Turns sketches into blocks with ids, and remembers how each leaf behaves. */
class Builder {
  private readonly temper: Temper;
  private count = 0;
  private readonly moods = new Map<
    string,
    { readonly mood: number; readonly ms: number; readonly kind: LeafKind }
  >();
  private readonly shielded = new Set<string>();
  private readonly resettable = new Set<string>();

  constructor(temper: Temper) {
    this.temper = temper;
  }

  build(sketches: readonly Sketch[]): RandomScenario {
    const blocks = this.list(sketches, { shielded: false, resettable: false });
    for (const id of HOOKS) this.shielded.add(id);
    const gates = [...this.moods].filter(([, { kind }]) => kind === 'gate');
    const events = [...this.moods].filter(([, { kind }]) => kind === 'event');
    return {
      blocks,
      members: AROUND,
      data: { xs: [1, 2], ys: [1, 2, 3] },
      sequences: { good: { blocks: [step('good_a'), sleep('good_s', 2468), pure('good_b')] } },
      on: {
        ...Object.fromEntries([...this.moods.keys()].map((id) => [id, (call: Call) => this.answer(call)])),
        hook1: fails('a hook may fail'),
        hook2: ok('swept', { takesMs: 50_002 }),
        hook3: ok('undone', { takesMs: 6 }),
      },
      answers: Object.fromEntries(
        gates.map(([id, { ms }]) => [id, { payload: { value: 'yes' }, afterMs: ms }]),
      ),
      arrivals: Object.fromEntries(events.map(([id, { ms }]) => [id, ms])),
      shielded: this.shielded,
      resettable: this.resettable,
    };
  }

  private answer({ blockId, attempt, iteration, runNo }: Call): Answer {
    const { mood, ms, kind } = this.moods.get(blockId) ?? { mood: 99, ms: 0, kind: 'step' };
    const takesMs = kind === 'task' || mood % 5 === 0 ? ms : 0;
    if (runNo > 1) return ok(blockId, { takesMs });
    // Passes differ, so that loops fail in the middle too.
    const tempered =
      (mood + iteration.length * 7 + (iteration.codePointAt(iteration.length - 1) ?? 0) * 13) % 100;
    if (tempered < this.temper.permanent) return fails('no', { takesMs });
    if (tempered < this.temper.permanent + this.temper.retryable && attempt === 0)
      return retryably('busy', { takesMs });
    if (kind === 'modify' && this.temper.injects === true) return injecting(blockId, iteration, mood);
    return ok(blockId, { takesMs });
  }

  private list(sketches: readonly Sketch[], place: Place): List {
    return sketches.map((of) => (of.kind === 'block' ? this.block(of, place) : this.leaf(of, place)));
  }

  private filled(sketches: readonly Sketch[] | undefined, place: Place): List {
    const list = this.list(sketches ?? [], place);
    return list.length > 0 ? list : [this.leaf({ kind: 'pure', mood: 99, ms: 10 }, place)];
  }

  private id(prefix: string): string {
    this.count += 1;
    return `${prefix}${this.count}`;
  }

  private leaf(sketched: Extract<Sketch, { kind: LeafKind }>, place: Place): BlockJson {
    const id = this.id(sketched.kind);
    // Durations are even, and different for each leaf: what happens at one instant has no order.
    const of = { ...sketched, ms: sketched.ms * 100 + this.count * 14 };
    this.moods.set(id, of);
    if (place.shielded || of.kind === 'tough') this.shielded.add(id);
    if (place.resettable) this.resettable.add(id);
    const again = tries(2, of.ms);
    switch (of.kind) {
      case 'step':
        return step(id, { ...again, ...limited(of) });
      case 'tough':
        return step(id, { cancellable: false, ...again });
      case 'modify':
        return pure(id);
      case 'pure':
        return pure(id, again);
      case 'task':
        return task(id, { ...again, ...limited(of) });
      case 'sleep':
        return sleep(id, of.ms);
      case 'delay':
        return step(id, { delay: { duration: of.ms }, ...again });
      case 'gate':
        return gate(id);
      case 'event':
        return eventGate(id);
      case 'child':
        return child(id, 'good');
      case 'never':
        return step(id, { when: 'data.nothing' });
    }
  }

  private block(of: Extract<Sketch, { kind: 'block' }>, place: Place): BlockJson {
    const id = this.id(of.of);
    const { lists, pick } = of;
    switch (of.of) {
      case 'parallel':
        return parallel(
          id,
          lists.map((list) => this.list(list, place)),
        );
      case 'fail_fast':
        return parallel(
          id,
          lists.map((list) => this.list(list, place)),
          { fail_fast: true },
        );
      case 'some':
        return parallel(
          id,
          lists.map((list) => this.list(list, place)),
          { min_successful: 1 },
        );
      case 'race':
        return race(
          id,
          lists.map((list) => this.list(list, place)),
        );
      case 'first_success':
        return race(
          id,
          lists.map((list) => this.list(list, place)),
          { semantics: 'first_to_succeed' },
        );
      case 'router':
        return router(
          id,
          lists.map(
            (list, index) =>
              [index === pick % (lists.length + 1) ? 'true' : 'false', this.list(list, place)] as const,
          ),
        );
      case 'split':
        return split(
          id,
          [...lists, []].map((list) => [1, this.list(list, place)] as const),
        );
      case 'scope':
        return scope(id, this.filled(lists[0], { ...place, shielded: true }));
      case 'loop':
        return loop(id, this.filled(lists[0], place), pick % 3 === 0 ? { poll_interval: 1 } : {});
      case 'tolerant_loop':
        return loop(id, this.filled(lists[0], place), { continue_on_error: true, retain_iterations: 1 });
      case 'for_each':
        return forEach(
          id,
          'xs',
          this.filled(lists[0], place),
          pick % 2 === 0 ? { retain_iterations: 1 } : {},
        );
      case 'fan_out':
        return forEach(id, 'ys', this.filled(lists[0], place), { concurrency: 2 + (pick % 2) });
      case 'tolerant_fan_out':
        return forEach(id, 'ys', this.filled(lists[0], place), {
          // Which row of one instant is the newest, and stays with retain_iterations, depends on the order of commits.
          concurrency: pick % 2 === 0 ? 1 + (pick % 3) : 1,
          on_item_failure: 'continue',
          ...(pick % 2 === 0 ? { collect: true } : { retain_iterations: 1 }),
          ...(pick % 4 < 2 ? { tolerate: { count: 1 } } : {}),
        });
      case 'try':
        return this.tryCatch(id, lists, place);
      case 'saga':
        return this.saga(id, lists, place);
    }
  }

  private tryCatch(id: string, lists: readonly (readonly Sketch[])[], place: Place): BlockJson {
    const inside = { ...place, resettable: true };
    const tried = this.filled(lists[0], inside);
    const caught = this.list(lists[1] ?? [], inside);
    const last = lists[2];
    return last === undefined
      ? tryCatch(id, tried, caught)
      : tryCatch(id, tried, caught, this.list(last, { shielded: true, resettable: true }));
  }

  private saga(id: string, lists: readonly (readonly Sketch[])[], place: Place): BlockJson {
    const steps = lists.flat().map((action, index) => {
      const done = this.list([action], { ...place, resettable: true })[0];
      const undo = this.leaf(
        { kind: 'step', mood: index * 17, ms: 10 },
        { shielded: true, resettable: true },
      );
      return [done ?? undo, undo] as const;
    });
    return saga(id, steps);
  }
}

interface Place {
  readonly shielded: boolean;
  readonly resettable: boolean;
}
