/** Why a run cannot go back to a block. The message is for people. */
export interface Refused {
  readonly reason:
    | 'unknown_block'
    | 'bad_iteration'
    | 'not_reached'
    | 'not_retained'
    | 'rolled_back'
    | 'set_aside'
    | 'not_a_leaf'
    | 'invalid_output'
    | 'too_large';
  readonly message: string;
}

export function refused(reason: Refused['reason'], message: string): Refused {
  return { reason, message };
}
