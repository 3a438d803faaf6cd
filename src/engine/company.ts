import type { Claim } from '../ports/store/turn.ts';
import type { Lease } from './lease.ts';

/** Who is at work in this process, over all its invocations: a suspect that has to be alone must find nobody, and nobody it. */
export interface Company {
  readonly size: number;
  /** Those that lost a lease before and have not ended a turn since. */
  readonly suspects: number;
  /** Whether a turn may begin that its process promised to have among so many. */
  admits(among: number): boolean;
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

export function createCompany(): Company {
  const members = new Set<Member>();
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
    admits: (among) => (among === 1 ? present().length === 0 : !present().some(({ isAlone }) => isAlone)),
    join({ among, takenOver, instance }, lease, isBounded) {
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
