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

/** The table of [INS-10], without what only a retry or a resume-from does. */
const TRANSITIONS: Readonly<Record<InstanceState, readonly InstanceState[]>> = {
  scheduled: ['running', 'paused', 'cancelled'],
  running: ['scheduled', 'waiting', 'paused', 'completed', 'failed', 'cancelled'],
  waiting: ['scheduled', 'running', 'failed', 'cancelled'],
  paused: ['scheduled', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/**
 * The states to go through from one state to another, the last one included, each step legal ([INS-10]). Empty when they
 * are the same, or when there is no way: an ended instance stays what it is.
 */
export function wayTo(from: InstanceState, to: InstanceState): readonly InstanceState[] {
  if (from === to) return [];
  if (TRANSITIONS[from].includes(to)) return [to];
  // Whatever is not direct goes by way of running, a paused instance by way of scheduled first.
  const next = from === 'paused' ? 'scheduled' : 'running';
  return TRANSITIONS[from].includes(next) ? [next, ...wayTo(next, to)] : [];
}

export type NodeState = 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

/** Priorities as stored, 0 to 3; the wire writes them capitalised ([ENUM-1]). */
export const PRIORITIES = ['Low', 'Normal', 'High', 'Critical'] as const;
