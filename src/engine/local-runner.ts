import type { Claim, ClaimDueRequest, NewLease } from '../ports/store/turn.ts';
import { hasHooksToRun } from '../core/run/hooks/hooks-pending.ts';
import { type ActiveTurns, createActiveTurns } from './active-turns.ts';
import { createCommitter } from './committer.ts';
import { localInstant } from './lease.ts';
import type { Attempt, InstanceTarget, Operation, OperationAnswer, TurnRunner } from './runner.ts';
import type { Turn } from './turn.ts';
import type { TurnEnd } from './turn-end.ts';
import { hintFreed } from './hint-freed.ts';
import { giveLeasesBack } from './turn-effects.ts';
import { untilTold } from './until-answered.ts';
import type { TurnDeps } from './turn-deps.ts';

const NUDGE_WITHIN_MS = 2_000;
/** Of the time of an invocation: with less left, a turn that must be alone could be ended by the host, which would count. */
export const FRESH_SHARE = 0.9;

export interface LocalRunnerSettings {
  /** Shown as the holder of leases; unique per process. */
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /** Turns at once in this process. */
  readonly maxTurns: number;
}

/** The turns of one process. */
export interface LocalRunner extends TurnRunner {
  /** Turns that may still be claimed now. */
  readonly room: number;
  readonly activeTurns: number;
  /** What a claim of several says about this process. */
  crowd(): Required<Pick<ClaimDueRequest, 'busy' | 'suspects'>>;
  /** A suspect waits that has to be alone: nothing is claimed until this process has nothing to do. */
  makeWay(): void;
  /** Runs a claimed instance; resolves with how the turn ended. `now` is the database's time of the claim. */
  run(claim: Claim, now: number): Promise<TurnEnd>;
  /** Calls back after every turn with how it ended. */
  onTurnEnd(listener: (claim: Claim, end: TurnEnd) => void): void;
  /**
   * Calls back when an instance that was to be looked at may not run yet, such as for want of a slot ([CONC-2]), or not in this
   * company: then it is due and nobody has been told.
   */
  onNotDue(listener: (left: InstanceTarget | null) => void): void;
  /** Renews the leases of all turns; what the store no longer knows is abandoned (RULINGS A23). */
  renewLeases(): Promise<void>;
  /** One look for all turns whose handlers run: a cancel must not wait for them (RULINGS B22). */
  watchInboxes(): Promise<void>;
  /** Starts nothing new and resolves when the last turn has ended. */
  drain(): Promise<void>;
  /** Resolves when no instance is being looked at any more, also not for a nudge that was not waited for to its end. */
  looked(): Promise<void>;
}

export function createLocalRunner(deps: TurnDeps, settings: LocalRunnerSettings): LocalRunner {
  const active = createActiveTurns(deps);
  const turns = active.byInstance;
  const newLease = (): NewLease => ({
    leaseToken: deps.ids.newId(),
    leaseOwner: settings.leaseOwner,
    leaseMs: settings.leaseMs,
    among: Math.max(2, settings.maxTurns),
  });
  let tellNotDue: (left: InstanceTarget | null) => void = () => undefined;
  /** A suspect waits until nothing else runs here. */
  let makesWay = false;
  const { look, looked } = tracked(createLook(deps, active, newLease, (left) => tellNotDue(left)));
  const closed = (): boolean => active.draining || deps.node?.isDraining === true;
  const { company } = deps;
  const room = (): number => {
    if (company.size === 0) makesWay = false;
    return closed() || makesWay || !company.admits(2) ? 0 : Math.max(0, settings.maxTurns - turns.size);
  };

  return {
    get room() {
      return room();
    },
    get activeTurns() {
      return turns.size;
    },
    crowd: () => ({ busy: company.size > 0 || !isFresh(deps, FRESH_SHARE), suspects: company.suspects }),
    makeWay: () => {
      makesWay = company.size > 0;
    },
    hasRoom: () => room() > 0,
    newLease,
    adopt: (claim) => {
      if (company.admits(claim.among)) active.begin(claim, claim.leaseUntil - settings.leaseMs);
      else void giveCrowdedBack(deps, claim);
    },
    run: (claim, now) =>
      company.admits(claim.among) ? active.run(claim, now) : giveCrowdedBack(deps, claim),
    nudge: (target, withinMs = NUDGE_WITHIN_MS) => within(deps, look(target), withinMs),
    operate: (target, operation, attempt) => {
      const mayAbandon = attempt?.isRepeat !== true;
      return operateHere(depsWithin(deps, attempt), { turns, newLease, look, mayAbandon }, target, operation);
    },
    resume: async (target, order, attempt) => {
      const { resumeFrom } = await import('./resume-from.ts');
      return resumeFrom(depsWithin(deps, attempt), newLease(), target, order);
    },
    onTurnEnd: (listener) => active.onEnd(listener),
    onNotDue: (listener) => {
      tellNotDue = listener;
    },
    renewLeases: () => renewAll(deps, turns, settings.leaseMs),
    watchInboxes: () => watchAll(deps, turns),
    drain: () => active.drain(),
    looked,
  };
}

/** Looks at one instance: wakes its turn, or claims it and begins one. Resolves when that turn is calm. */
function createLook(
  deps: TurnDeps,
  active: ActiveTurns,
  newLease: TurnRunner['newLease'],
  onNotDue: (left: InstanceTarget | null) => void,
): Look {
  const turns = active.byInstance;
  /** Named claims that have not been answered yet. */
  const claiming = new Map<string, Promise<void>>();

  const claimAndBegin = async (target: InstanceTarget): Promise<Turn | null> => {
    if (!deps.company.admits(2)) {
      onNotDue(target);
      return null;
    }
    const request = { ...target, ...newLease(), mode: 'hint' as const };
    const answer = await untilTold(deps.clock, () => deps.store.claimOne(request));
    if (answer.status === 'not_due') {
      hintFreed(deps, answer);
      onNotDue(null);
    }
    if (answer.status === 'suspect') onNotDue(target);
    if (answer.status !== 'claimed') return null;
    if (deps.company.admits(answer.claim.among)) return active.begin(answer.claim, answer.now);
    await giveCrowdedBack(deps, answer.claim);
    onNotDue(target);
    return null;
  };

  return async (target) => {
    // A claim that is under way may have been made before the fact: the turn that it begins has to look again.
    await claiming.get(target.instanceId);
    const running = turns.get(target.instanceId);
    await running?.wake();
    // It may have ended without seeing the fact; then the instance is due again.
    if (running !== undefined && turns.get(target.instanceId) === running && !running.waits.isOver) return;
    // The other nodes find it, as they find all that this one leaves.
    if (deps.node?.isDraining === true) return;
    const claim = claimAndBegin(target);
    const answered = claim.then(
      () => undefined,
      () => undefined,
    );
    claiming.set(target.instanceId, answered);
    const turn = await claim.finally(() => {
      if (claiming.get(target.instanceId) === answered) claiming.delete(target.instanceId);
    });
    await turn?.calm();
  };
}

/** More than this share of the time of an invocation is ahead. */
export function isFresh({ limits }: TurnDeps, share: number): boolean {
  const { remainingTimeMs, freshTimeMs } = limits;
  return remainingTimeMs === null || remainingTimeMs() > freshTimeMs * share;
}

/** Nothing of it was begun. When the store cannot be asked the lease runs out. */
async function giveCrowdedBack(deps: TurnDeps, claim: Claim): Promise<TurnEnd> {
  try {
    await untilTold(deps.clock, () => giveLeasesBack(deps, [claim]));
  } catch (error) {
    deps.log.warn('a lease could not be given back', { error: String(error) });
  }
  return { kind: 'crowded' };
}

type Look = (target: InstanceTarget) => Promise<void>;

/** Remembers the looks that are under way: who asked for one may have gone on before its claim was answered. */
function tracked(look: Look): { readonly look: Look; readonly looked: () => Promise<void> } {
  const underWay = new Set<Promise<void>>();
  return {
    look: (target) => {
      const ended = look(target);
      const settled = ended
        .catch(() => undefined)
        .then(() => {
          underWay.delete(settled);
        });
      underWay.add(settled);
      return ended;
    },
    async looked() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** A fact is stored already: who waits for its effect waits only so long. */
async function within(deps: TurnDeps, work: Promise<void>, withinMs: number): Promise<void> {
  let disarm = (): void => undefined;
  const limit = new Promise<void>((resolve) => {
    disarm = deps.clock.after(withinMs, resolve);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    disarm();
  }
}

/** What a request with a key does goes through its own store, commits included. */
function depsWithin(deps: TurnDeps, attempt: Attempt | undefined): TurnDeps {
  if (attempt === undefined) return deps;
  const { store } = attempt;
  return { ...deps, store, committer: createCommitter(store, deps.clock, deps.log) };
}

interface Here {
  readonly turns: ReadonlyMap<string, Turn>;
  readonly newLease: TurnRunner['newLease'];
  readonly look: (target: InstanceTarget) => Promise<void>;
  /** A command that may have been carried out long ago tells nothing about the turns of now. */
  readonly mayAbandon: boolean;
}

async function operateHere(
  deps: TurnDeps,
  here: Here,
  target: InstanceTarget,
  operation: Operation,
): Promise<OperationAnswer> {
  await runHooksFirst(deps, here, target, operation);
  // Only what operators do needs this much code, and functions should be small; the same holds for `resume`.
  const { operate } = await import('./operate.ts');
  const first = await operate(deps, here.newLease(), target, operation);
  // A turn of this process was taken over: it is told at once instead of finding out at its next commit.
  if (first.status === 'done' && here.mayAbandon) here.turns.get(target.instanceId)?.abandon();
  if (first.status !== 'busy' || operation.kind !== 'set_state' || operation.state !== 'paused') return first;
  return pauseHeld(deps, here, target);
}

/** A retry waits for what the end of the run before asked for: its hooks run once for each end ([HOOK-1]). */
async function runHooksFirst(
  deps: TurnDeps,
  here: Here,
  target: InstanceTarget,
  operation: Operation,
): Promise<void> {
  if (operation.kind === 'reschedule') return;
  if (operation.kind !== 'retry' && operation.state !== 'scheduled') return;
  const instance = await deps.store.getInstance(target.tenantId, target.instanceId);
  if (instance === null || !hasHooksToRun(instance.hooks)) return;
  await within(deps, here.look(target), NUDGE_WITHIN_MS);
}

/** A pause under a live lease is a fact like any other; its effect is waited for (RULINGS A40). */
async function pauseHeld(deps: TurnDeps, here: Here, target: InstanceTarget): Promise<OperationAnswer> {
  const signalId = deps.ids.newId();
  const answer = await deps.store.signal({ ...target, signalId, signalType: 'pause', payload: null });
  if (answer.status === 'not_found') return { status: 'not_found' };
  if (answer.status === 'terminal') return { status: 'illegal', from: answer.state };
  await within(deps, here.look(target), NUDGE_WITHIN_MS);
  const instance = await deps.store.getInstance(target.tenantId, target.instanceId);
  return instance?.state === 'paused' ? { status: 'done', state: 'paused' } : { status: 'busy' };
}

async function renewAll(deps: TurnDeps, turns: ReadonlyMap<string, Turn>, leaseMs: number): Promise<void> {
  const held = [...turns.values()];
  if (held.length === 0) return;
  const askedAt = localInstant(deps.clock);
  const kept = await deps.store.renewLeases(
    held.map((turn) => turn.lease.ref),
    leaseMs,
  );
  for (const turn of held) {
    if (kept.has(turn.lease.ref.instanceId)) turn.lease.renewed(leaseMs, askedAt);
    // A turn that settled meanwhile holds nothing, and is not here any more.
    else if (turns.get(turn.lease.ref.instanceId) === turn) turn.abandon();
  }
}

async function watchAll(deps: TurnDeps, turns: ReadonlyMap<string, Turn>): Promise<void> {
  const waiting = [...turns.values()].filter((turn) => turn.isWaiting);
  if (waiting.length === 0) return;
  const called = await deps.store.peekInbox(
    waiting.map((turn) => ({ ...turn.lease.ref, seenSeq: turn.seen })),
  );
  for (const instanceId of called) void turns.get(instanceId)?.wake();
}
