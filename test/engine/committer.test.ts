import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import { type Committer, createCommitter } from '../../src/engine/committer.ts';
import { type Store, StoreUnavailable } from '../../src/ports/store/store.ts';
import type { CommitAnswer, TurnCommit } from '../../src/ports/store/turn.ts';
import { TENANT, newInstance, nextId, row, settleAs, turnOf } from '../support/turn-builder.ts';
import { START_AT } from './support/test-engine.ts';
import { ProcessGate } from './support/process-gate.ts';
import { VirtualTime } from './support/virtual-time.ts';

type Send = (turns: readonly TurnCommit[], carryOut: () => Promise<CommitAnswer>) => Promise<CommitAnswer>;

interface Bench {
  readonly time: VirtualTime;
  readonly store: Store;
  readonly committer: Committer;
  /** Sizes of the batches that were sent. */
  readonly batches: number[];
  readonly warnings: string[];
  /** A turn of a new instance, ready to be committed. */
  readonly turn: (overrides?: Partial<TurnCommit>) => Promise<TurnCommit>;
}

/** A committer over a store in memory; `send` may do with each statement what it likes. */
function bench(send: Send = (_, carryOut) => carryOut()): Bench {
  const time = new VirtualTime(START_AT);
  const store = createMemoryStore({ now: () => time.now });
  const batches: number[] = [];
  const warnings: string[] = [];
  const counted = {
    commit: (turns: readonly TurnCommit[]) => {
      batches.push(turns.length);
      return send(turns, () => store.commit(turns));
    },
  };
  const silent = (): undefined => undefined;
  const log = {
    debug: silent,
    info: silent,
    error: silent,
    warn: (text: string) => void warnings.push(text),
  };
  const turn = async (overrides: Partial<TurnCommit> = {}): Promise<TurnCommit> => {
    const instance = newInstance();
    await store.start({ instances: [instance], onKnownKey: 'first' });
    const answer = await store.claimOne({
      ...{ tenantId: TENANT, instanceId: instance.id, leaseToken: nextId(), leaseOwner: 'process-a' },
      ...{ leaseMs: 60_000, mode: 'hint' as const },
    });
    if (answer.status !== 'claimed') throw new Error(answer.status);
    return turnOf(answer.claim, { rows: [row()], ...overrides });
  };
  const { clock } = new ProcessGate(time, 'process-a');
  return { time, store, committer: createCommitter(counted, clock, log), batches, warnings, turn };
}

const many = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

describe('group commit (RULINGS A13 to A15)', () => {
  it('a lone commit goes by itself; those of the same tick go together', async () => {
    const { time, committer, batches, turn } = bench();
    const [first, ...others] = await many(5, turn);
    if (first === undefined) throw new Error('no turn');
    const alone = committer.commit(first);
    await time.calm();
    expect((await alone).verdict.verdict).toBe('ok');
    const together = Promise.all(others.map((one) => committer.commit(one)));
    await time.calm();
    expect((await together).map(({ verdict }) => verdict.verdict)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(batches).toEqual([1, 4]);
  });

  it('while a statement is under way the next commits gather, and each hears its own verdict', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { time, committer, batches, turn } = bench(async (_, carryOut) => {
      if (batches.length === 1) await held;
      return carryOut();
    });
    const turns = await many(4, turn);
    const stale = { ...(await turn()), epoch: 99 };
    const first = committer.commit(turns[0] ?? stale);
    await time.calm();
    const gathered = Promise.all([...turns.slice(1), stale].map((one) => committer.commit(one)));
    await time.calm();
    expect(batches).toEqual([1]);
    release();
    await time.calm();
    expect((await first).verdict.verdict).toBe('ok');
    expect((await gathered).map(({ verdict }) => verdict.verdict)).toEqual(['ok', 'ok', 'ok', 'fenced']);
    expect(batches).toEqual([1, 4]);
  });

  it('what has gathered is sent before the turns of the statement before hear their verdicts', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const order: string[] = [];
    const { time, committer, turn } = bench(async (_, carryOut) => {
      order.push('sent');
      if (order.length === 1) await held;
      return carryOut();
    });
    const [first, second] = await Promise.all([turn(), turn()]);
    const told = committer.commit(first).then(() => order.push('told'));
    await time.calm();
    const gathered = committer.commit(second);
    release();
    await time.calm();
    await Promise.all([told, gathered]);
    expect(order).toEqual(['sent', 'sent', 'told']);
  });

  it('the turns of a large batch hear their verdicts in order, and the first go on before the last hear theirs', async () => {
    const { time, committer, batches, turn } = bench();
    const turns = await many(200, turn);
    const told: { readonly turn: number; readonly batches: number }[] = [];
    const again: Promise<unknown>[] = [];
    const all = turns.map(async (one, index) => {
      await committer.commit(one);
      told.push({ turn: index, batches: batches.length });
      if (index === 0) again.push(committer.commit({ ...one, rev: 1, rows: [row({ blockId: 'next' })] }));
    });
    await time.calm();
    await Promise.all([...all, ...again]);
    expect(told.map(({ turn: index }) => index)).toEqual(turns.map((_, index) => index));
    expect([told[0]?.batches, told.at(-1)?.batches]).toEqual([1, 2]);
  });

  it('A13: what was busy goes again alone, and the others do not wait for it', async () => {
    let locked = '';
    let answered = 0;
    const { time, committer, batches, turn } = bench(async (turns, carryOut) => {
      const free = turns.filter(({ instanceId }) => instanceId !== locked || answered > 2);
      answered += 1;
      if (free.length === turns.length) return carryOut();
      return { now: time.now, verdicts: turns.map(() => ({ verdict: 'busy' as const })) };
    });
    const [one] = await many(1, turn);
    if (one === undefined) throw new Error('no turn');
    locked = one.instanceId;
    const commit = committer.commit(one);
    await time.pass(1000);
    expect((await commit).verdict.verdict).toBe('ok');
    expect(batches.length).toBeGreaterThan(2);
    expect(new Set(batches)).toEqual(new Set([1]));
  });

  it('A14: two commits of one instance never share a statement', async () => {
    const { time, committer, batches, turn } = bench();
    const one = await turn();
    const next = { ...one, rev: one.rev + 1, rows: [row({ blockId: 'other' })] };
    const both = Promise.all([committer.commit(one), committer.commit(next)]);
    await time.calm();
    expect((await both).map(({ verdict }) => verdict.verdict)).toEqual(['ok', 'ok']);
    expect(batches).toEqual([1, 1]);
  });

  it('A15: a batch that fails goes turn by turn, and only the turn that fails alone is failed', async () => {
    const { time, store, committer, batches, warnings, turn } = bench();
    const turns = await many(4, turn);
    // Two results of one leaf in one commit break a key of the store.
    const bad = await turn({ rows: [row(), row()] });
    const outcomes = Promise.allSettled([...turns, bad].map((one) => committer.commit(one)));
    await time.calm();
    expect((await outcomes).map(({ status }) => status)).toEqual([
      ...turns.map(() => 'fulfilled'),
      'rejected',
    ]);
    expect(batches).toEqual([5, 1, 1, 1, 1, 1]);
    expect(warnings).toHaveLength(1);
    for (const { instanceId } of turns) {
      expect((await store.getInstance(TENANT, instanceId))?.rev).toBe(1);
    }
    expect((await store.getInstance(TENANT, bad.instanceId))?.rev).toBe(0);
  });

  it('A15: at most 500 turns a statement; what is large or touches other instances goes alone', async () => {
    const { time, committer, batches, turn } = bench();
    const turns = await many(501, turn);
    const large = await turn({ rows: [row({ output: 'x'.repeat(70_000) })] });
    const all = Promise.all([...turns, large].map((one) => committer.commit(one)));
    await time.calm();
    await all;
    expect(batches.toSorted((a, b) => a - b)).toEqual([1, 1, 500]);
  });

  it('A15: at most 1 MiB a statement', async () => {
    const { time, committer, batches, turn } = bench();
    const turns = await many(40, () => turn({ rows: [row({ output: 'x'.repeat(60_000) })] }));
    const all = Promise.all(turns.map((one) => committer.commit(one)));
    await time.calm();
    await all;
    expect(Math.max(...batches)).toBeLessThanOrEqual(17);
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(40);
  });

  it('A8: after a batch with an unknown outcome each turn learns that it is there already', async () => {
    let lost = true;
    const { time, committer, turn } = bench(async (_, carryOut) => {
      const answer = await carryOut();
      if (!lost) return answer;
      lost = false;
      throw new StoreUnavailable('lost', { unknown: true });
    });
    const turns = await many(3, () => turn({ settle: settleAs('paused') }));
    const all = Promise.all(turns.map((one) => committer.commit(one)));
    await time.calm();
    expect((await all).map(({ verdict }) => verdict.verdict)).toEqual(['already', 'already', 'already']);
  });

  it('gives up after some tries when nobody wants to wait, and goes on as long as somebody does', async () => {
    const { time, committer, batches, turn } = bench(() =>
      Promise.reject(new StoreUnavailable('down', { unknown: false })),
    );
    let patient = true;
    const [one, other] = await many(2, turn);
    if (one === undefined || other === undefined) throw new Error('no turn');
    const impatient = committer.commit(one);
    const refused = impatient.catch((error: unknown) => error);
    await time.pass(10_000);
    expect(await refused).toBeInstanceOf(StoreUnavailable);
    const tries = batches.length;
    const waiting = committer.commit(other, () => patient);
    const given = waiting.catch((error: unknown) => error);
    await time.pass(60_000);
    expect(batches.length).toBeGreaterThan(2 * tries);
    patient = false;
    await time.pass(10_000);
    expect(await given).toBeInstanceOf(StoreUnavailable);
  });
});
