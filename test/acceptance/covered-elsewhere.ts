export interface CoveringTest {
  readonly file: string;
  /** The name of the test, or the literal part of it. */
  readonly name: string;
}

const FAN_OUT = 'test/api/describe-fan-out.ts';
const SIGNALS = 'test/api/describe-signals.ts';
const SCHEDULES = 'test/api/describe-schedules.ts';
const LIMITS = 'test/api/describe-live-limits.ts';
const SHAPE = 'test/api/describe-shape.ts';

/** Scenarios that are tests over HTTP on the same stores already, by id. */
export const COVERED_ELSEWHERE: Readonly<Record<string, readonly CoveringTest[]>> = {
  B15: [{ file: FAN_OUT, name: 'keeps the approval of item 2 open after those of 3 and 1 were given (B15)' }],
  B19: [{ file: SIGNALS, name: 'are kept before the wait that takes them (B19)' }],
  B21: [
    { file: SIGNALS, name: 'with the same %s are one; the next wait stays open (B21)' },
    { file: SIGNALS, name: 'may have delivery ids of any kind, each of its own instance (B21)' },
  ],
  B29: [
    { file: FAN_OUT, name: 'cancels what runs and what waits at the first failure with fail_fast (B29)' },
  ],
  B31: [
    {
      file: FAN_OUT,
      name: 'completes over [] with [], and takes null and an object for an empty collection (B31)',
    },
  ],
  B33: [{ file: FAN_OUT, name: 'keeps the outputs of one step apart for each path and item' }],
  B55: [{ file: SCHEDULES, name: 'that are disabled do not fire, and after a pause there is no burst' }],
  B61: [{ file: LIMITS, name: '5 a second, 20 starts: at most 5 in any sliding second (B61)' }],
  B65: [
    {
      file: 'test/cli/server-database.test.ts',
      name: 'several dev processes come up at once on an empty database and share its instances',
    },
    {
      file: 'test/postgres/migrations.test.ts',
      name: 'make the schema once, however many processes begin on an empty database',
    },
  ],
  C09: [
    {
      file: LIMITS,
      name: 'open, no fallback: scheduled about 60 s ahead, then one probe is let through (C09)',
    },
  ],
  C11: [{ file: LIMITS, name: 'a breaker never touched: reset is 200, and it stays unknown (C11)' }],
  D09: [{ file: SCHEDULES, name: 'are previewed, also across a clock change and while disabled' }],
  E23: [
    {
      file: 'test/api/describe-events.ts',
      name: 'a run that waits for two events goes on after the second, a repeat is one event (E23)',
    },
  ],
  F07: [
    {
      file: LIMITS,
      name: 'r1 (cap 2) and r2 (cap 1), round robin: r1, r2, r1, exhausted; the next day assigned (F07)',
    },
  ],
  F17: [{ file: LIMITS, name: 'the same with the cap raised to 20: it goes on, no resume is needed (F17)' }],
  G17: [{ file: SHAPE, name: 'G17: five checkpoints, pruned to two and to none' }],
  G21: [{ file: SHAPE, name: 'G21: a waiting run goes on with the new version, a completed one is refused' }],
  K21: [{ file: FAN_OUT, name: 'runs a loop of two in each of three items six times' }],
  K43: [
    { file: SHAPE, name: 'K43: self_modify injects a block at the end, and an invalid one fails the run' },
  ],
};
