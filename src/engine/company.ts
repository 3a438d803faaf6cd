import type { Claim } from '../ports/store/turn.ts';
import type { Clock } from '../ports/system.ts';
import type { Lease } from './lease.ts';

/** Who is at work in this process, over all its invocations: a suspect that has to be alone must find nobody, and nobody it. */
export interface Company {
  readonly size: number;
  /** Those that lost a lease before and have not ended a turn since. */
  readonly suspects: number;
  /** Whether a turn may begin that its process promised to have among so many. */
  admits(among: number): boolean;
  /**
   * This instance has to be alone and has found others here: for so long nobody else begins, so that it finds the process
   * empty when it comes again. One at a time; over as soon as somebody is alone here.
   */
  makeWay(instanceId: string, forMs: number): void;
  /** Way is made for this instance. */
  awaits(instanceId: string): boolean;
  /**
   * Answers what ends the stay.
   *
   * @param isBounded The host may end it without a word, as it ends invocations; then it is over with its lease at the latest.
   */
  join(claim: Claim, lease: Pick<Lease, 'leftMs'>, isBounded: boolean): () => void;
}

interface Member {
  readonly isAlone: boolean;
  readonly isSuspect: boolean;
  readonly isHere: () => boolean;
}

export function createCompany(clock: Pick<Clock, 'monotonicMs'>): Company {
  const members = new Set<Member>();
  let way: { readonly instanceId: string; readonly untilMs: number } | null = null;
  const openWay = () => (way !== null && clock.monotonicMs() < way.untilMs ? way : null);
  const present = (): readonly Member[] => {
    for (const member of members) if (!member.isHere()) members.delete(member);
    return [...members];
  };
  return {
    get size() {
      return present().length;
    },
    get suspects() {
      return present().filter(({ isSuspect }) => isSuspect).length;
    },
    admits: (among) =>
      among === 1 ? present().length === 0 : openWay() === null && !present().some(({ isAlone }) => isAlone),
    makeWay(instanceId, forMs) {
      if (openWay() === null || openWay()?.instanceId === instanceId)
        way = { instanceId, untilMs: clock.monotonicMs() + forMs };
    },
    awaits: (instanceId) => openWay()?.instanceId === instanceId,
    join({ among, takenOver, instance }, lease, isBounded) {
      if (among === 1) way = null;
      const member = {
        isAlone: among === 1,
        isSuspect: takenOver || instance.recoveryCount > 0,
        isHere: () => !isBounded || lease.leftMs() > 0,
      };
      members.add(member);
      return () => members.delete(member);
    },
  };
}
