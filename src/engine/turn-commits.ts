import { traceIntents } from '../core/run/interceptors/traces.ts';
import type { Settle } from '../core/run/changes.ts';
import type { Draft } from '../core/run/draft.ts';
import { applyFacts } from '../core/run/facts.ts';
import { takeUnannounced } from '../core/run/reshape/apply-changes.ts';
import { settleDenied } from '../core/run/limits/ask.ts';
import type { InboxRow, TurnCommit, TurnVerdict } from '../ports/store/turn.ts';
import { callEscalations, escalateAtOnce } from './escalate.ts';
import { invokeInterceptors } from './invoke-interceptors.ts';
import type { Lease } from './lease.ts';
import { turnCommit } from './turn-commit.ts';
import type { TurnClock } from './turn-clock.ts';
import type { TurnDeps } from './turn-deps.ts';
import { hintsOf, slotHints } from './turn-effects.ts';
import { turnReads } from './turn-reads.ts';

/**
 * `granted` and `withheld`: it is stored, with or without its intents. `reload`: it was refused, another fact stands in
 * between. `lost`: the lease is somebody else's.
 */
export type Sent = 'granted' | 'withheld' | 'reload' | 'lost';

const NO_BREAKERS: ReadonlySet<string> = new Set();

/** The commits of one turn, and the facts it has been given: what a commit may say it has seen. */
export class TurnCommits {
  /** Commits that are stored. */
  count = 0;
  /** Facts came in that the last commit had not seen: a settled instance is due again at once (RULINGS A5). */
  wasWoken = false;
  private readonly deps: TurnDeps;
  private readonly lease: Lease;
  private readonly clock: TurnClock;
  private readonly onStored: () => void;
  private rev = 0;
  private seenSeq = 0;

  constructor(deps: TurnDeps, lease: Lease, clock: TurnClock, onStored: () => void) {
    this.deps = deps;
    this.lease = lease;
    this.clock = clock;
    this.onStored = onStored;
  }

  /** Highest seq of the facts that the turn was given. */
  get seen(): number {
    return this.seenSeq;
  }

  /** The next commit is composed on this draft, which was read at this rev. */
  beginWith(draft: Draft): void {
    this.rev = draft.record.rev;
  }

  takeInbox(draft: Draft, rows: readonly InboxRow[]): void {
    for (const row of rows) this.seenSeq = Math.max(this.seenSeq, row.seq);
    takeUnannounced(draft, rows);
    applyFacts(draft, rows);
  }

  async send(draft: Draft, settled: Settle | null): Promise<Sent> {
    if (draft.escalations.size + draft.invocations.size > 0) await this.callBefore(draft);
    traceIntents(draft);
    const turn = turnCommit({
      ref: this.lease.ref,
      rev: this.rev,
      runNo: draft.record.runNo,
      seenSeq: this.seenSeq,
      changes: draft.takeChanges(),
      settle: settled,
    });
    const { now, heardAtMs, verdict } = await this.deps.committer.commit(turn, () => this.lease.leftMs() > 0);
    this.clock.sync(now, heardAtMs);
    switch (verdict.verdict) {
      case 'ok':
      case 'already':
        this.stored(draft, turn, verdict);
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

  private async callBefore(draft: Draft): Promise<void> {
    const context = {
      draft,
      reads: turnReads(this.deps.store, this.deps.clock, this.lease),
      lease: this.lease,
    };
    await escalateAtOnce(this.deps, context);
    await invokeInterceptors(this.deps, context);
  }

  private stored(
    draft: Draft,
    turn: TurnCommit,
    verdict: Extract<TurnVerdict, { readonly verdict: 'ok' | 'already' }>,
  ): void {
    this.rev += 1;
    this.count += 1;
    const { taken } = verdict;
    const { cacheLooks } = draft;
    this.deps.counters.stored(turn, taken === undefined ? { cacheLooks } : { taken, cacheLooks });
    this.wasWoken = verdict.inbox.length > 0;
    this.onStored();
    const { openBreakers } = verdict;
    draft.env.openBreakers = openBreakers === undefined ? NO_BREAKERS : new Set(openBreakers);
    if (verdict.granted) draft.grant(verdict.taken);
    else draft.withdraw();
    if (verdict.granted) settleDenied(draft);
    callEscalations(this.deps, draft);
    const hints = hintsOf(draft, turn);
    const slots = slotHints(turn.tenantId, verdict);
    if (hints.length + slots.length > 0) this.deps.hints.send([...hints, ...slots]);
    if (turn.settle === null) this.takeInbox(draft, verdict.inbox);
  }
}
