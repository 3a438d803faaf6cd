import type { Claim, CommitAnswer, TurnCommit } from '../../src/ports/store/turn.ts';
import type { WorkerTask } from '../../src/ports/store/accept.ts';
import { TENANT, newInstance } from '../support/turn-builder.ts';
import { Ids } from './player-ids.ts';
import { composeTurn } from './player-turn.ts';
import type { Act, TurnPlan } from './random-acts.ts';
import { ENDED_STATES } from './states.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { LEASE_MS, dueRequest, oneRequest, pollRequest } from './world.ts';

/**
 * Tells one store what the acts say. Two players that are given the same acts use the same ids, so their answers can be
 * compared; ids that a store makes by itself are replaced by a word.
 */
export class Player {
  private readonly underTest: StoreUnderTest;
  private readonly ids = new Ids();
  private readonly instances: string[] = [];
  private readonly claims: Claim[] = [];
  private readonly tasks: WorkerTask[] = [];
  private readonly signals: { readonly instanceId: string; readonly signalId: string }[] = [];
  private lastCommit: TurnCommit | null = null;

  constructor(underTest: StoreUnderTest) {
    this.underTest = underTest;
  }

  /** The answer of the act, or `rejected`. Every act has an instant of its own, so that no order is left to chance. */
  async play(act: Act, index: number): Promise<unknown> {
    await this.underTest.advanceClock(1);
    this.ids.enter(index);
    try {
      return this.ids.comparable(await this.answer(act));
    } catch (error) {
      return error instanceof Error ? 'rejected' : error;
    }
  }

  /** All that can be read, in a fixed order. */
  async rows(): Promise<unknown> {
    const { store } = this.underTest;
    const all: unknown[] = [];
    for (const id of this.instances) {
      const frontier = await store.getFrontier(null, id);
      if (frontier === null) {
        all.push(null);
        continue;
      }
      const { instance, ...rest } = frontier;
      // When a row was touched last is shown, but no two adapters need agree on what touches it.
      const { updatedAt: _updatedAt, ...columns } = instance;
      const key = { tenantId: TENANT, instanceId: id };
      all.push({
        columns,
        ...rest,
        outputs: await store.listOutputs(null, id, { node: true, retry: true }),
        audit: await store.listAudit(null, id, 100),
        state: inOrderOfKeys(await store.readState(key, 'all')),
        latest: inOrderOfKeys(await store.readOutputs(key, 'all')),
        children: (await store.listChildren(null, id))?.map((child) => child.id),
      });
    }
    const wake = [await store.nextWake(), await store.lookForWork({})];
    return this.ids.comparable({ all, wake });
  }

  private async answer(act: Act): Promise<unknown> {
    const { store } = this.underTest;
    switch (act.act) {
      case 'start':
        return this.start(act);
      case 'claimDue':
      case 'claimExpired': {
        const batch = await store[act.act](dueRequest({ leaseToken: this.ids.next() }));
        this.remember(batch.claims);
        return batch;
      }
      case 'claimOne':
        return this.claimOne(act);
      case 'commit': {
        const claim = this.pick(this.claims, act.claim);
        return claim === null ? null : this.commit([composeTurn(claim, act.turn, this.ids)]);
      }
      case 'groupCommit':
        return this.commit(this.composeGroup(act.turns));
      case 'repeatCommit':
        return this.lastCommit === null ? null : store.commit([this.lastCommit]);
      case 'renew':
      case 'release': {
        const claim = this.pick(this.claims, act.claim);
        if (claim === null) return null;
        return act.act === 'renew'
          ? [...(await store.renewLeases([claim], LEASE_MS))]
          : store.releaseLeases([claim]);
      }
      case 'voidAll':
        return store.voidAllLeases();
      case 'advance':
        return this.underTest.advanceClock(act.ms);
      case 'wake':
        return this.wake(act);
      case 'signal':
      case 'patchContext':
      case 'poll':
      case 'report':
      case 'heartbeat':
      case 'releaseSilent':
        return this.fact(act);
    }
  }

  /** A wake of a start names when it would have begun, which is so only now and then. */
  private async wake(act: Extract<Act, { act: 'wake' }>): Promise<unknown> {
    const { store } = this.underTest;
    const instanceId = this.pick(this.instances, act.instance);
    if (instanceId === null) return null;
    const nextFireAt = (await store.getInstance(null, instanceId))?.nextFireAt ?? 0;
    const startAt = act.startInMs === null ? null : nextFireAt + act.startInMs;
    const wake = { ends: [], startAt, limit: null };
    return store.wakeInstance({ tenantId: null, instanceId, factId: this.ids.next(), wake });
  }

  private async fact(
    act: Extract<Act, { act: 'signal' | 'patchContext' | 'poll' | 'report' | 'heartbeat' | 'releaseSilent' }>,
  ): Promise<unknown> {
    const { store } = this.underTest;
    switch (act.act) {
      case 'signal': {
        const instanceId = this.pick(this.instances, act.instance);
        if (instanceId === null) return null;
        const known = act.again ? this.signals.at(-1) : undefined;
        const signal = known ?? { instanceId, signalId: this.ids.next() };
        this.signals.push(signal);
        return store.signal({ tenantId: null, ...signal, signalType: act.type, payload: { n: 1 } });
      }
      case 'patchContext': {
        const instanceId = this.pick(this.instances, act.instance);
        if (instanceId === null) return null;
        return store.patchContext({
          tenantId: null,
          instanceId,
          factId: this.ids.next(),
          sections: { data: { text: 'x'.repeat(act.size) } },
          mode: act.merge ? 'merge' : 'replace',
          maxContextBytes: 150,
        });
      }
      case 'poll': {
        const given = await store.pollTasks(pollRequest({ limit: act.limit }));
        this.tasks.push(...given);
        return given;
      }
      case 'report':
      case 'heartbeat':
        return this.work(act);
      case 'releaseSilent':
        return store.releaseSilentTasks(60_000, 10);
    }
  }

  private work(act: Extract<Act, { act: 'report' | 'heartbeat' }>): Promise<unknown> | null {
    const task = this.pick(this.tasks, act.task);
    if (task === null) return null;
    const { store } = this.underTest;
    const caller = { tenantId: null, taskId: task.id, workerId: 'w-lisbon-2', claimEpoch: task.claimEpoch };
    if (act.act === 'heartbeat') {
      return store.heartbeatTask({
        ...caller,
        ...(act.seq === null ? {} : { checkpoint: { seq: act.seq, value: act.seq } }),
      });
    }
    return store.reportTask({
      ...caller,
      claimEpoch: task.claimEpoch + (act.stale ? 1 : 0),
      factId: this.ids.next(),
      outcome: act.ok ? { ok: true, output: { n: 1 } } : { ok: false, message: 'no', retryable: true },
      logs: [],
    });
  }

  private async start(act: Extract<Act, { act: 'start' }>): Promise<unknown> {
    const { store } = this.underTest;
    const { now } = await store.ping();
    const instances = Array.from({ length: 1 + act.many }, (_, n) =>
      newInstance({
        id: this.ids.next(),
        runId: this.ids.next(),
        priority: act.priority,
        data: { n: act.key },
        nextFireAt: act.delayMs === 0 ? null : now + act.delayMs + n,
        idempotencyKey: act.key > 2 ? null : `key-${act.key}`,
      }),
    );
    const lease = { leaseToken: this.ids.next(), leaseOwner: 'process-a', leaseMs: LEASE_MS };
    const answer = await store.start({
      instances,
      onKnownKey: act.many === 0 ? 'first' : 'conflict',
      ...(act.lease ? { lease } : {}),
    });
    if (answer.status === 'ok') {
      for (const { id, claim } of answer.started) {
        if (!this.instances.includes(id)) this.instances.push(id);
        if (claim !== null) this.remember([claim]);
      }
    }
    return answer;
  }

  private async claimOne(act: Extract<Act, { act: 'claimOne' }>): Promise<unknown> {
    const instanceId = this.pick(this.instances, act.instance);
    if (instanceId === null) return null;
    const held = act.again ? this.claims.findLast((claim) => claim.instanceId === instanceId) : undefined;
    const leaseToken = held?.leaseToken ?? this.ids.next();
    const mode = act.operator ? 'operator' : 'hint';
    const result = await this.underTest.store.claimOne(
      oneRequest(instanceId, { leaseToken, mode, takeOver: act.takeOver }),
    );
    if (result.status === 'claimed') this.remember([result.claim]);
    return result;
  }

  /**
   * Turns of different instances, newest claims first. Turns that touch other instances travel alone (RULINGS A15), so
   * none of these ends or has children.
   */
  private composeGroup(plans: readonly TurnPlan[]): readonly TurnCommit[] {
    const newest = new Map<string, Claim>();
    for (const claim of this.claims) newest.set(claim.instanceId, claim);
    const claims = [...newest.values()].reverse();
    return plans.flatMap((plan, index) => {
      const claim = claims[index];
      if (claim === undefined) return [];
      const settle = isTerminalWord(plan.settle) ? null : plan.settle;
      return [composeTurn(claim, { ...plan, settle, child: 'none' }, this.ids)];
    });
  }

  private async commit(turns: readonly TurnCommit[]): Promise<CommitAnswer> {
    this.lastCommit = turns.at(-1) ?? null;
    for (const turn of turns) {
      for (const child of turn.childrenStarted) this.instances.push(child.id);
    }
    const answer = await this.underTest.store.commit(turns);
    for (const [index, verdict] of answer.verdicts.entries()) {
      const turn = turns[index];
      if (turn !== undefined && verdict.verdict === 'ok') this.advanceClaims(turn, verdict.inbox);
    }
    return answer;
  }

  /** The claim as the turn knows it after an applied commit. */
  private advanceClaims(turn: TurnCommit, news: Claim['inbox']): void {
    for (const [index, claim] of this.claims.entries()) {
      if (claim.instanceId !== turn.instanceId || claim.epoch !== turn.epoch) continue;
      const done = new Set(turn.inboxDone.map(({ seq }) => seq));
      const inbox = claim.inbox.filter(({ seq }) => !done.has(seq) && seq <= turn.seenSeq);
      const { newRun } = turn.instance;
      const instance = {
        ...claim.instance,
        rev: claim.instance.rev + 1,
        ...(newRun === undefined ? {} : newRun),
      };
      this.claims[index] = { ...claim, instance, inbox: [...inbox, ...news] };
    }
  }

  private remember(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const same = this.claims.findIndex(({ instanceId, epoch }) => {
        return instanceId === claim.instanceId && epoch === claim.epoch;
      });
      if (same === -1) this.claims.push(claim);
      else this.claims[same] = claim;
    }
  }

  /** The newest ones are chosen most: old claims are stale. */
  private pick<T>(among: readonly T[], choice: number): T | null {
    return among.at(-1 - (choice % Math.max(1, Math.min(among.length, 4)))) ?? null;
  }
}

/** What a store reads as a map has no order of its own. */
function inOrderOfKeys<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
}

function isTerminalWord(word: string | null): boolean {
  return ENDED_STATES.some((ended) => ended === word);
}
