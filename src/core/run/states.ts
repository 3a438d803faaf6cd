/** State words, one set per noun (sequences.md 4.3 and 7.3). */
export const INSTANCE_STATES = [
  'scheduled',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];
export type TerminalState = 'completed' | 'failed' | 'cancelled';

export function isTerminal(state: InstanceState): state is TerminalState {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

export type NodeState = 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

/** Priorities as stored, 0 to 3; the wire writes them capitalised ([ENUM-1]). */
export const PRIORITIES = ['Low', 'Normal', 'High', 'Critical'] as const;
export type Priority = (typeof PRIORITIES)[number];
