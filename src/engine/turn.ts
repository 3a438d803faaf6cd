import { advance, finishCall, takeBack } from '../core/run/advance.ts';
import type { Settle } from '../core/run/changes.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import type { Needs } from '../core/run/knowledge.ts';
import { isOutdated } from '../core/run/reshape/apply-changes.ts';
import { earliestWake, nextWake, settle, settleUnmoved } from '../core/run/settle.ts';
import type { Claim } from '../ports/store/turn.ts';
import { type Lease, leaseOf } from './lease.ts';
import { readNeeds } from './read-needs.ts';
import { refreshNames } from './refresh-names.ts';
import { Rereads, endInVain } from './rereads.ts';
import { readShape } from './read-shape.ts';
import { readAgain } from './read-again.ts';
import { TurnCalls } from './turn-calls.ts';
import { TurnBudget } from './turn-budget.ts';
import { TurnClock } from './turn-clock.ts';
import { TurnCommits } from './turn-commits.ts';
import type { TurnDeps } from './turn-deps.ts';
import { draftOf, giveUpAfterRecoveries } from './turn-draft.ts';
import type { CallContext } from './turn-effects.ts';
import { callable } from './turn-grants.ts';
import { type TurnEnd, brokenOff, giveBack, settledEnd, waitsInPlace } from './turn-end.ts';
import { type TurnReads, turnReads } from './turn-reads.ts';
import { untilAnswered } from './until-answered.ts';
import { TurnWaits } from './turn-waits.ts';

type Step = 'again' | 'reload' | 'lost';

/** One claim-advance-settle cycle of one instance (DESIGN 4). `run` is called once. */
export class Turn {
  readonly lease: Lease;
  private readonly deps: TurnDeps;
  private readonly claim: Claim;
  /** On the monotonic clock. */
  private readonly beganAtMs: number;
  private readonly calls: TurnCalls;
  readonly waits: TurnWaits;
  private readonly reads: TurnReads;
  private readonly budget: TurnBudget;
  private readonly clock: TurnClock;
  private readonly commits: TurnCommits;
  private readonly rereads = new Rereads();
  private mayRun: boolean;
  /** A handler was called: from then on the turn knows what ran before it and what did not. */
  private begun = false;
  private inboxCalled = false;

  constructor(deps: TurnDeps, claim: Claim, now: number) {
    this.deps = deps;
    this.claim = claim;
    this.beganAtMs = deps.clock.monotonicMs();
    this.lease = leaseOf(claim, now, deps.clock);
    this.waits = new TurnWaits(deps.clock);
    this.reads = turnReads(deps.store, deps.clock, this.lease);
    this.calls = new TurnCalls(deps, () => this.waits.interrupt());
    this.mayRun = claim.mayRun;
    this.budget = new TurnBudget(deps, this.lease);
    this.clock = new TurnClock(deps.clock, now);
    this.commits = new TurnCommits(deps, this.lease, this.clock, () => {
      this.budget.committed();
      this.calls.committed();
    });
  }

  /** It waits for a handler or for a slot: the runner watches the inbox of such turns. */
  get isWaiting(): boolean {
    return this.waits.isWaiting;
  }

  get seen(): number {
    return this.commits.seen;
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
      return brokenOff(this.deps, this.claim.instanceId, error);
    } finally {
      this.calls.abortAll();
      this.waits.end();
    }
  }

  private async runClaims(): Promise<TurnEnd> {
    let claim: Claim | null = this.claim;
    while (claim !== null) {
      const before = this.commits.count;
      const end = await this.runDraft(claim);
      if (end !== 'reload') return end;
      this.rereads.count(this.commits.count > before);
      if (this.rereads.areMany) this.budget.stop();
      const untouched = this.commits.count === 0 && this.calls.areOver;
      if (this.rereads.areInVain(this.calls))
        return endInVain(this.deps, this.lease, this.clock.now(), { untouched });
      claim = await this.readAgain();
    }
    return { kind: 'lost' };
  }

  private readAgain(): Promise<Claim | null> {
    return readAgain({ ...this.deps, reads: this.reads, lease: this.lease, turnClock: this.clock });
  }

  private async runDraft(claim: Claim): Promise<TurnEnd | 'reload'> {
    const { instance } = claim;
    const load = () => readShape(this.deps, instance);
    const shape = await untilAnswered(this.deps.clock, load, () => this.lease.leftMs() > 0);
    if (shape === null) throw new Error(`the definition ${instance.sequenceId} cannot be read`);
    const draft = draftOf(this.deps, shape, claim, this.clock.now(), (ms) => this.budget.fits(ms));
    draft.lostCalls.takenOver &&= !this.begun;
    this.commits.beginWith(draft);
    this.calls.keep(draft);
    this.commits.takeInbox(draft, claim.inbox);
    this.budget.isHeld = draft.shape.isHeld;
    this.mayRun ||= draft.moved;
    if (draft.terminal) {
      const { commits, clock, budget, waits } = this;
      const after = { ...this.with(draft), claim, commits, clock, budget, waits };
      return (await import('./run-hooks.ts')).runHooks(this.deps, after);
    }
    giveUpAfterRecoveries(this.deps, draft, claim);
    for (;;) {
      const step = await this.round(draft);
      if (step !== 'again') return step === 'lost' ? { kind: 'lost' } : step;
    }
  }

  private async round(draft: Draft): Promise<Step | TurnEnd> {
    draft.env.now = this.clock.now();
    if (this.inboxCalled && !(await this.readInbox(draft))) return 'lost';
    this.calls.takeFinished(draft);
    if (draft.outside.reaches) return this.commit(draft, null);
    if (draft.rootEnd !== 'failed') {
      const refreshed = refreshNames(this.deps, draft.plan, this.lease, this.beganAtMs);
      if (refreshed !== null) await refreshed;
      for (let needs = this.advance(draft); needs !== null; needs = this.advance(draft)) {
        await readNeeds(this.reads, draft, needs);
      }
    }
    this.calls.dropCancelled(draft);
    if (draft.escalations.size > 0) return this.commitAlone(draft);
    if (isOutdated(draft, this.calls.size)) return this.readAfresh(draft);
    if (this.budget.mayYield(draft)) await this.budget.yieldToHigher(draft);
    const pure = draft.ready.length === 0 ? draft.ready : draft.ready.filter((dispatch) => dispatch.pure);
    if (pure.length > 0 && this.budget.mayStart()) return this.runPure(draft, pure);
    if (pure.length > 0) draft.runnableLeft = true;
    const ready = pure.length === 0 ? draft.ready : draft.ready.filter((dispatch) => !dispatch.pure);
    if (ready.length > 0 || draft.intents.asks) return await this.startReady(draft, ready);
    if (this.calls.noticesAreDue(draft) && draft.hasChanges) return this.commit(draft, null);
    this.calls.startNotices(draft, this.lease);
    if (this.calls.size > 0) return await this.waitDurably(draft, nextWake(draft));
    if (draft.runnableLeft && this.budget.mayStart()) return this.waitDurably(draft, null);
    const wake = earliestWake(draft);
    const inPlace = this.budget.mayStart() && waitsInPlace(this.deps, draft, wake);
    if (inPlace) return this.waitDurably(draft, wake);
    return await this.finish(draft);
  }

  /** Answers what has to be read before the run can go on; null: nothing. */
  private advance(draft: Draft): Needs | null {
    // Until something has begun: what is ready may be withheld and made ready again, and stays a redelivery.
    draft.lostCalls.takenOver &&= !this.begun;
    const mayRun = this.mayRun && !draft.needsClaim;
    return advance(draft, { room: this.budget.room(this.calls.size), mayRun });
  }

  /** Pure leaves run at once, one after the other, and share the next commit; what else was ready has its turn after them. */
  private async runPure(draft: Draft, pure: readonly Dispatch[]): Promise<Step> {
    draft.withdraw();
    for (const dispatch of pure) {
      if (!this.budget.mayStart()) break;
      const outcome = await this.calls.call(this.with(draft), dispatch);
      this.budget.countPure(outcome);
      finishCall(draft, dispatch, outcome);
      if (draft.outside.reaches) break;
    }
    return this.budget.commitIsDue ? this.commit(draft, null) : 'again';
  }

  /**
   * The intent rides on the commit before the call (RULINGS A9). Only the first leaves of a turn that has nothing else
   * to write go at once: for them the claim is the intent (RULINGS A22). Not so after a take-over: if this process dies
   * as well, it must be known which instance was to blame (RULINGS A18).
   */
  private async startReady(draft: Draft, ready: readonly Dispatch[]): Promise<Step> {
    const { steps } = this.deps;
    if (!steps.take(ready.length)) return 'again';
    let called: readonly Dispatch[] = [];
    try {
      const granted = this.claimIsIntent(draft, ready) ? 'granted' : await this.commits.send(draft, null);
      if (granted !== 'granted') return granted === 'withheld' ? 'again' : granted;
      const allowed = callable(draft, ready);
      if (allowed.length > 0 && this.budget.mayStart()) called = allowed;
      else takeBack(draft, allowed);
    } finally {
      steps.release(ready.length - called.length);
    }
    this.begun ||= called.length > 0;
    const context = this.with(draft);
    for (const dispatch of called) {
      this.budget.countEffect();
      this.calls.start(context, dispatch);
    }
    return 'again';
  }

  /** True where no commit is due before the first calls: the leaves count as dispatched. */
  private claimIsIntent(draft: Draft, ready: readonly Dispatch[]): boolean {
    if (this.commits.count > 0 || this.claim.takenOver || draft.hasChanges) return false;
    if (draft.intents.asks || ready.some((dispatch) => dispatch.intentFirst)) return false;
    draft.grantByClaim();
    return true;
  }

  private with(draft: Draft): CallContext {
    return { draft, lease: this.lease, reads: this.reads };
  }

  /** Waits for a handler, for a slot, for the inbox or until an instant; what is not written yet goes first. */
  private async waitDurably(draft: Draft, until: number | null): Promise<Step> {
    if (draft.hasChanges) return this.commit(draft, null);
    if (this.lease.isLost) return 'lost';
    if (this.calls.hasFinished || this.inboxCalled) return 'again';
    if (draft.runnableLeft && this.budget.mayStart()) {
      if (this.budget.room(this.calls.size) > 0) return 'again';
      void this.deps.steps.freed().then(() => this.waits.interrupt());
    }
    await this.waits.wait(until === null ? null : until - this.clock.now());
    return this.lease.isLost ? 'lost' : 'again';
  }

  private async readInbox(draft: Draft): Promise<boolean> {
    this.inboxCalled = false;
    const claim = await this.readAgain();
    if (claim === null) return false;
    const news = claim.inbox.filter((row) => row.seq > this.commits.seen);
    this.commits.takeInbox(draft, news);
    return true;
  }

  private async finish(draft: Draft): Promise<Step | TurnEnd> {
    if (draft.runnableLeft && this.commits.count === 0 && !draft.hasChanges && !this.budget.mayStart()) {
      return giveBack(this.deps, this.lease, this.clock.now());
    }
    const mayRun = (this.mayRun && !draft.needsClaim) || draft.cancelling;
    const settled = mayRun ? settle(draft) : settleUnmoved(draft);
    const step = await this.commit(draft, settled);
    if (step !== 'again') return step;
    return settledEnd(this.deps, draft, settled, { now: this.clock.now(), wasWoken: this.commits.wasWoken });
  }

  /** What the run is made of has changed: what was done is stored, then all is read as it is now. */
  private async readAfresh(draft: Draft): Promise<Step> {
    draft.withdraw();
    const step = draft.hasChanges ? await this.commit(draft, null) : 'again';
    return step === 'again' ? 'reload' : step;
  }

  /** What has happened is stored before anything that comes after it begins ([DL-3]). */
  private commitAlone(draft: Draft): Promise<Step> {
    draft.withdraw();
    return this.commit(draft, null);
  }

  private async commit(draft: Draft, settled: Settle | null): Promise<Step> {
    const sent = await this.commits.send(draft, settled);
    return sent === 'granted' || sent === 'withheld' ? 'again' : sent;
  }
}
