import fc from 'fast-check';

/**
 * Something that is told a store. Numbers choose among what there is when the act is played (modulo its count), so that
 * every shorter list of acts is playable too.
 */
export type Act =
  | {
      readonly act: 'start';
      readonly priority: number;
      readonly delayMs: number;
      readonly key: number;
      readonly lease: boolean;
      readonly many: number;
    }
  | { readonly act: 'claimDue' | 'claimExpired' }
  | {
      readonly act: 'claimOne';
      readonly instance: number;
      readonly operator: boolean;
      readonly takeOver: boolean;
      readonly again: boolean;
    }
  | { readonly act: 'commit'; readonly claim: number; readonly turn: TurnPlan }
  | { readonly act: 'groupCommit'; readonly turns: readonly TurnPlan[] }
  | { readonly act: 'repeatCommit' }
  | { readonly act: 'renew' | 'release'; readonly claim: number }
  | { readonly act: 'voidAll' }
  | { readonly act: 'signal'; readonly instance: number; readonly type: string; readonly again: boolean }
  | {
      readonly act: 'patchContext';
      readonly instance: number;
      readonly merge: boolean;
      readonly size: number;
    }
  | { readonly act: 'wake'; readonly instance: number; readonly startInMs: number | null }
  | { readonly act: 'poll'; readonly limit: number }
  | { readonly act: 'report'; readonly task: number; readonly ok: boolean; readonly stale: boolean }
  | { readonly act: 'heartbeat'; readonly task: number; readonly seq: number | null }
  | { readonly act: 'releaseSilent' }
  | { readonly act: 'advance'; readonly ms: number };

/** What a commit is made of. */
export interface TurnPlan {
  readonly settle: string | null;
  readonly settleInMs: number;
  readonly strict: boolean;
  readonly protectedResult: boolean;
  readonly hasResult: boolean;
  readonly rows: readonly { readonly block: number; readonly kind: string; readonly attempt: number }[];
  readonly supersede: number | null;
  readonly frame: 'none' | 'plain' | 'intent' | 'gone';
  readonly kv: readonly { readonly key: number; readonly value: number | null }[];
  readonly done: number;
  readonly see: boolean;
  readonly task: 'none' | 'create' | 'create_once' | 'cancel' | 'time_out';
  readonly child: 'none' | 'start' | 'cancel';
  readonly patch: string;
  readonly oddRev: number;
}

const small = fc.nat({ max: 9 });
/** True about once in `n`. */
const rarely = (n: number): fc.Arbitrary<boolean> => fc.nat({ max: n - 1 }).map((drawn) => drawn === 0);

const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  settle: fc.constantFrom(
    null,
    null,
    null,
    'scheduled',
    'running',
    'waiting',
    'paused',
    'completed',
    'failed',
    'cancelled',
  ),
  settleInMs: fc.constantFrom(0, 1, 50, 70_000),
  strict: rarely(3),
  protectedResult: rarely(4),
  hasResult: fc.boolean(),
  rows: fc.array(
    fc.record({
      block: fc.nat({ max: 2 }),
      kind: fc.constantFrom('result', 'error', 'node', 'retry', 'counter'),
      attempt: fc.nat({ max: 2 }),
    }),
    { maxLength: 3 },
  ),
  supersede: fc.option(fc.nat({ max: 5 }), { freq: 4 }),
  frame: fc.constantFrom('none', 'plain', 'intent', 'intent', 'gone'),
  kv: fc.array(fc.record({ key: fc.nat({ max: 2 }), value: fc.option(small) }), { maxLength: 3 }),
  done: fc.nat({ max: 3 }),
  see: fc.boolean(),
  task: fc.constantFrom('none', 'none', 'create', 'create', 'create_once', 'cancel', 'time_out'),
  child: fc.constantFrom('none', 'none', 'none', 'start', 'cancel'),
  patch: fc.constantFrom('none', 'data', 'dataSet', 'metadata', 'state', 'newRun', 'startedAt'),
  oddRev: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, -1),
});

export const actArbitrary: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('start' as const),
      priority: fc.nat({ max: 3 }),
      delayMs: fc.constantFrom(0, 0, 40, 5_000),
      key: fc.nat({ max: 4 }),
      lease: rarely(3),
      many: fc.nat({ max: 1 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('claimDue' as const, 'claimExpired' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('claimOne' as const),
      instance: small,
      operator: rarely(3),
      takeOver: fc.boolean(),
      again: rarely(5),
    }),
  },
  { weight: 14, arbitrary: fc.record({ act: fc.constant('commit' as const), claim: small, turn: turnPlan }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('groupCommit' as const),
      turns: fc.array(turnPlan, { minLength: 2, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: 'repeatCommit' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constantFrom('renew' as const, 'release' as const), claim: small }),
  },
  { weight: 1, arbitrary: fc.constant({ act: 'voidAll' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('signal' as const),
      instance: small,
      type: fc.constantFrom('cancel', 'pause', 'custom:poke'),
      again: rarely(5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('patchContext' as const),
      instance: small,
      merge: fc.boolean(),
      size: fc.constantFrom(1, 200),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('wake' as const),
      instance: small,
      startInMs: fc.constantFrom(null, 0, 0, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('poll' as const), limit: fc.constantFrom(1, 10) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('report' as const),
      task: small,
      ok: fc.boolean(),
      stale: rarely(4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('heartbeat' as const),
      task: small,
      seq: fc.option(fc.nat({ max: 1 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: 'releaseSilent' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant('advance' as const), ms: fc.constantFrom(10, 1_000, 61_000) }),
  },
);
