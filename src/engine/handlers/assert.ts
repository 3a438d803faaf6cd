import { evaluateExpression, isTruthy } from '../../core/expressions/evaluate.ts';
import type { Scope } from '../../core/expressions/scope.ts';
import type { StepCall, StepHandler } from '../../ports/step-handler.ts';
import type { Entropy } from '../../ports/system.ts';
import { requiredText, textOr } from './params.ts';
import { randomValues } from './random-values.ts';
import { lineText } from '../../core/storable-text.ts';

/**
 * `assert` (handlers.md 3.6): `condition` (required) is a bare expression, evaluated leniently with the handler's view
 * of the context and the outputs. Truthy: `{"condition", "passed": true}`. Falsy, or no expression at all: permanent,
 * ASSERTION_FAILED, with `message` (default `assertion failed`).
 */
export function createAssertHandler(entropy: Entropy): StepHandler {
  return {
    name: 'assert',
    kind: 'pure',
    checkParams: (params) => {
      const condition = requiredText('assert', params, 'condition');
      return condition.ok ? null : condition.error;
    },
    run: (call) => {
      const condition = requiredText('assert', call.params, 'condition');
      if (!condition.ok) return { ok: false, failure: condition.error };
      const value = evaluateExpression(condition.value, scopeOf(call, entropy), 'lenient');
      if (value.ok && isTruthy(value.value))
        return { ok: true, output: { condition: condition.value, passed: true } };
      const message = `assert: ${textOr(call.params, 'message', 'assertion failed')} (condition: ${condition.value})`;
      const details = { condition: condition.value, passed: false };
      return {
        ok: false,
        failure: { message: lineText(message), retryable: false, code: 'ASSERTION_FAILED', details },
      };
    },
  };
}

function scopeOf(call: StepCall, entropy: Entropy): Scope {
  const { data, config, runtime } = call.context;
  return {
    data,
    config,
    runtime: () => runtime,
    outputs: call.outputs,
    instanceId: call.instanceId,
    // Expressions do not see the key/value store, and the bindings of loops are already in the view's data.
    state: new Map(),
    items: new Map(),
    now: () => call.nowMs,
    ...randomValues(entropy),
  };
}
