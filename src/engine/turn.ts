import { advance, finishCall } from '../core/run/advance.ts';
import type { Settle } from '../core/run/changes.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { applyFacts } from '../core/run/facts.ts';
import { earliestWake, settle, settleUntouched, terminalState } from '../core/run/settle.ts';
import type { Claim, InboxRow, TurnCommit } from '../ports/store/turn.ts';
import { type Lease, leaseOf } from './lease.ts';
import { readNeeds } from './read-needs.ts';
import { TurnCalls } from './turn-calls.ts';
import { TurnBudget } from './turn-budget.ts';
import { TurnClock } from './turn-clock.ts';
import type { TurnDeps } from './turn-deps.ts';
import { draftOf, giveUpAfterRecoveries } from './turn-draft.ts';
import { type CallContext, callEscalations, hintsOf, startCall } from './turn-effects.ts';
import type { TurnEnd } from './turn-end.ts';
import { type TurnReads, turnReads } from './turn-reads.ts';
import { untilAnswered } from './until-answered.ts';
import { TurnWaits } from './turn-waits.ts';

/** Refused commits in a row; each means that another fact came in between. */
const RELOADS_MAX = 20;

type Step = 'again' | 'reload' | 'lost';

/** One claim-advance-settle cycle of one instance (DESIGN 4). `run` is called once. */
export class Turn {
  readonly lease: Lease;
  private readonly deps: TurnDeps;
  private readonly claim: Claim;
  private readonly calls: TurnCalls;
  private readonly waits: TurnWaits;
  private readonly reads: TurnReads;
  private rev: number;
  private seenSeq = 0;
  private mayRun: boolean;
  private committedOnce = false;
  private inboxCalled = false;
  private readonly budget: TurnBudget;
  private readonly clock: TurnClock;

  constructor(deps: TurnDeps, claim: Claim, now: number) {
    this.deps = deps;
    this.claim = claim;
    this.lease = leaseOf(claim, now, deps.clock);
    this.waits = new TurnWaits(deps.clock);
    this.reads = turnReads(deps.store, deps.clock, this.lease);
    this.calls = new TurnCalls(deps, () => this.waits.interrupt());
    this.rev = claim.instance.rev;
    this.mayRun = claim.mayRun;
    this.budget = new TurnBudget(deps, this.lease);
    this.clock = new TurnClock(deps.clock, now);
  }

  /** Handlers are running: the runner watches the inbox of such turns. */
  get isWaiting(): boolean {
    return this.calls.size > 0;
  }

  get seen(): number {
    return this.seenSeq;
  }

  /** New facts may be there. Resolves when they are processed and a handler runs, or when the turn is over. */
  wake(): Promise<void> {
    this.inboxCalled = true;
    const calm = this.waits.calm();
    this.waits.interrupt();
    return calm;
  }

  /** Resolves as soon as the turn waits for a handler, or is over. */
  calm(): Promise<void> {
    return this.waits.calm();
  }

  /** Starts nothing new; what runs may end (shutdown). */
  stop(): void {
    this.budget.stop();
    this.waits.interrupt();
  }

  /** The store lost the lease: nothing of this turn counts any more. */
  abandon(): void {
    this.lease.lose();
    this.calls.abortAll();
    this.waits.interrupt();
  }

  async run(): Promise<TurnEnd> {
    try {
      return await this.runClaims();
    } catch (error) {
      this.deps.log.error('a turn broke off', {
        instance_id: this.claim.instanceId,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return { kind: 'lost' };
    } finally {
      this.calls.abortAll();
      this.waits.becomeCalm();
    }
  }

  private async runClaims(): Promise<TurnEnd> {
    let claim: Claim | null = this.claim;
    for (let reloads = 0; claim !== null && reloads < RELOADS_MAX; reloads += 1) {
      const end = await this.runDraft(claim);
      if (end !== 'reload') return end;
      claim = await this.readAgain();
    }
    return { kind: 'lost' };
  }

  /** RULINGS A24: the lease token claims again what it holds, and reads it afresh. */
  private async readAgain(): Promise<Claim | null> {
    const { ref } = this.lease;
    const answer = await this.reads.claimOne({
      tenantId: ref.tenantId,
      instanceId: ref.instanceId,
      leaseToken: ref.leaseToken,
      leaseOwner: '',
      leaseMs: Math.max(1, Math.round(this.lease.leftMs())),
      mode: 'hint',
    });
    if (answer.status !== 'claimed' || answer.claim.epoch !== ref.epoch) return null;
    this.clock.sync(answer.now);
    return answer.claim;
  }

  private async runDraft(claim: Claim): Promise<TurnEnd | 'reload'> {
    const { tenantId, instance } = claim;
    const load = () => this.deps.definitions.plan(tenantId, instance.sequenceId);
    const plan = await untilAnswered(this.deps.clock, load, () => this.lease.leftMs() > 0);
    if (plan === null) throw new Error(`the definition ${instance.sequenceId} cannot be read`);
    const draft = draftOf(this.deps, plan, claim, this.clock.now());
    this.rev = claim.instance.rev;
    this.calls.keep(draft);
    this.takeInbox(draft, claim.inbox);
    this.mayRun ||= draft.moved;
    giveUpAfterRecoveries(this.deps, draft, claim);
    for (;;) {
      const step = await this.round(draft);
      if (step === 'lost') return { kind: 'lost' };
      if (step !== 'again') return step;
    }
  }

  private async round(draft: Draft): Promise<Step | TurnEnd> {
    draft.env.now = this.clock.now();
    if (this.inboxCalled && !(await this.readInbox(draft))) return 'lost';
    this.calls.takeFinished(draft);
    if (draft.rootEnd !== 'failed') await this.advance(draft);
    this.calls.dropCancelled(draft);
    const pure = draft.ready.filter((dispatch) => dispatch.pure);
    if (pure.length > 0 && this.budget.mayStart()) return this.runPure(draft, pure);
    if (pure.length > 0) draft.runnableLeft = true;
    const ready = draft.ready.filter((dispatch) => !dispatch.pure);
    if (ready.length > 0) return this.startReady(draft, ready);
    if (this.calls.size > 0) return this.waitDurably(draft, null);
    if (draft.runnableLeft && this.budget.mayStart()) return this.makeRoom(draft);
    const wake = earliestWake(draft);
    if (wake !== null && this.waitsInPlace(draft, wake)) return this.waitDurably(draft, wake);
    return this.finish(draft);
  }

  private async advance(draft: Draft): Promise<void> {
    for (;;) {
      const needs = advance(draft, { room: this.budget.room(this.calls.size), mayRun: this.mayRun });
      draft.takenOver &&= draft.ready.length === 0;
      if (needs === null) return;
      await readNeeds(this.reads, draft, needs);
    }
  }

  /** Pure leaves run at once, one after the other, and share the next commit. */
  private async runPure(draft: Draft, pure: readonly Dispatch[]): Promise<Step> {
    for (const dispatch of pure) {
      if (!this.budget.mayStart()) break;
      this.budget.countPure();
      const outcome = await startCall(this.deps, this.with(draft), dispatch).outcome;
      finishCall(draft, dispatch, outcome);
    }
    return this.budget.commitIsDue ? this.commit(draft, null) : 'again';
  }

  /**
   * The intent rides on the commit before the call (RULINGS A9). Only the first leaves of a turn that has nothing else
   * to write go at once: for them the claim is the intent (RULINGS A22).
   */
  private async startReady(draft: Draft, ready: readonly Dispatch[]): Promise<Step> {
    const claimIsIntent =
      !this.committedOnce && !draft.hasChanges && !ready.some((dispatch) => dispatch.intentFirst);
    if (claimIsIntent) draft.grant();
    else {
      const committed = await this.send(draft, null);
      if (committed === 'withheld') return 'again';
      if (committed !== 'granted') return committed;
    }
    for (const dispatch of ready) {
      if (!this.lease.maySpend()) return 'lost';
      this.budget.countEffect();
      this.calls.start(this.with(draft), dispatch);
    }
    return 'again';
  }

  /** What is runnable did not fit: the rows go first, or another turn has to give a slot back. */
  private async makeRoom(draft: Draft): Promise<Step> {
    if (draft.pendingRows > 0) return this.commit(draft, null);
    await this.deps.steps.freed();
    return 'again';
  }

  private with(draft: Draft): CallContext {
    return { draft, lease: this.lease, reads: this.reads };
  }

  private waitsInPlace(draft: Draft, wake: number): boolean {
    if (terminalState(draft) !== null || draft.state === 'paused' || !this.budget.mayStart()) return false;
    return draft.env.now < wake && wake - draft.env.now <= this.deps.limits.inPlaceWaitMs;
  }

  /** Waits for a handler, for the inbox or until an instant; what is not written yet goes first. */
  private async waitDurably(draft: Draft, until: number | null): Promise<Step> {
    if (draft.hasChanges) {
      const step = await this.commit(draft, null);
      if (step !== 'again') return step;
    }
    if (this.calls.hasFinished || this.inboxCalled) return 'again';
    await this.waits.wait(until === null ? null : until - this.clock.now());
    return this.lease.leftMs() > 0 ? 'again' : 'lost';
  }

  private async readInbox(draft: Draft): Promise<boolean> {
    this.inboxCalled = false;
    const claim = await this.readAgain();
    if (claim === null) return false;
    this.takeInbox(
      draft,
      claim.inbox.filter((row) => row.seq > this.seenSeq),
    );
    return true;
  }

  private takeInbox(draft: Draft, rows: readonly InboxRow[]): void {
    for (const row of rows) this.seenSeq = Math.max(this.seenSeq, row.seq);
    applyFacts(draft, rows);
  }

  private async finish(draft: Draft): Promise<Step | TurnEnd> {
    const untouched = !this.mayRun && !draft.cancelling && draft.state === 'scheduled';
    const settled = untouched ? settleUntouched(draft) : settle(draft);
    const step = await this.commit(draft, settled);
    if (step !== 'again') return step;
    return { kind: 'settled', state: settled.state, dueAt: settled.dueAt, now: this.clock.now() };
  }

  private async commit(draft: Draft, settled: Settle | null): Promise<Step> {
    const committed = await this.send(draft, settled);
    return committed === 'granted' || committed === 'withheld' ? 'again' : committed;
  }

  private async send(
    draft: Draft,
    settled: Settle | null,
  ): Promise<'granted' | 'withheld' | 'reload' | 'lost'> {
    const turn: TurnCommit = {
      ...this.lease.ref,
      rev: this.rev,
      runNo: draft.record.runNo,
      seenSeq: this.seenSeq,
      ...draft.takeChanges(),
      settle: settled,
    };
    const { now, verdict } = await this.deps.committer.commit(turn, () => this.lease.leftMs() > 0);
    this.clock.sync(now);
    switch (verdict.verdict) {
      case 'ok':
      case 'already':
        this.afterCommit(draft, turn, verdict);
        return verdict.granted ? 'granted' : 'withheld';
      case 'refused':
        return 'reload';
      case 'fenced':
        return 'lost';
      case 'busy':
        throw new Error('a commit stayed busy');
      case 'bug':
        throw new Error(`the store refused a commit: ${verdict.message}`);
    }
  }

  private afterCommit(
    draft: Draft,
    turn: TurnCommit,
    verdict: { readonly granted: boolean; readonly inbox: readonly InboxRow[] },
  ): void {
    this.rev += 1;
    this.budget.committed();
    this.committedOnce = true;
    this.calls.committed();
    if (verdict.granted) draft.grant();
    else draft.withdraw();
    callEscalations(this.deps, draft);
    const hints = hintsOf(draft, turn);
    if (hints.length > 0) this.deps.hints.send(hints);
    if (turn.settle === null) this.takeInbox(draft, verdict.inbox);
  }
}
