/** Every starting state, including those that must not move. */
export const LIVE_STATES = ['scheduled', 'running', 'waiting', 'paused'] as const;
export const ENDED_STATES = ['completed', 'failed', 'cancelled'] as const;
export const ALL_STATES = [...LIVE_STATES, ...ENDED_STATES] as const;
