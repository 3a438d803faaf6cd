import type { Path } from './path.ts';

/**
 * Codes of sequences.md 3.3, `unknown_param` and `bad_param` about the params of built-in handlers, and `more_warnings` for
 * what the bound below leaves out.
 */
export type WarningCode =
  | 'unknown_field'
  | 'unknown_handler'
  | 'empty_branch'
  | 'single_branch_race'
  | 'empty_route'
  | 'empty_catch'
  | 'empty_saga'
  | 'zero_weight'
  | 'timeout_exceeds_deadline'
  | 'fallback_is_primary'
  | 'breach_without_deadline'
  | 'unreachable'
  | 'event_gate'
  | 'unknown_output_ref'
  | 'missing_param'
  | 'unknown_param'
  | 'bad_param'
  | 'bad_expression'
  | 'bad_template'
  | 'hyphen_in_expression'
  | 'interceptor_not_invoked'
  | 'effect_dropped'
  | 'nested_cleanup'
  | 'item_var_name'
  | 'item_var_shadowed'
  | 'more_warnings';

/** Something a publish accepts although it looks wrong. `path` is where it stands. */
export interface Warning {
  readonly code: WarningCode;
  readonly block_id?: string;
  readonly path?: string;
  readonly message: string;
}

/** Records one warning of a block; `path` is relative to the block. */
export type Warn = (code: WarningCode, message: string, path?: Path) => void;

/** Most warnings of one document: a hostile one must not buy an answer larger than itself. */
export const MAX_WARNINGS = 1000;

/** At most `MAX_WARNINGS` warnings; one more says how many were left out. */
export function boundWarnings(warnings: readonly Warning[]): readonly Warning[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  const leftOut = warnings.length - MAX_WARNINGS;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    { code: 'more_warnings', message: `${leftOut} more warnings are not listed` },
  ];
}
