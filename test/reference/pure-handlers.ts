import type { StepBlock } from '../../src/core/definition/document.ts';
import { evaluateExpression, isTruthy } from '../../src/core/expressions/evaluate.ts';
import type { Failure } from '../../src/core/failure.ts';
import { type Json, member } from '../../src/core/json.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import type { Instance, Sim } from './instance.ts';
import { failAttempt, succeed } from './leaf-result.ts';
import { permanent, templateScope } from './scope-of.ts';
import type { TreeNode } from './tree-node.ts';

interface PureCall {
  readonly block: StepBlock;
  readonly params: Json;
  readonly cacheKey: string | null;
}

/** Built-in handlers that take no time (handlers.md 3 and 4). Their end comes after the round that started them. */
export function callPure(
  sim: Sim,
  instance: Instance,
  node: TreeNode,
  { block, params, cacheKey }: PureCall,
): void {
  const result = pureResult(instance, node, block.handler, params);
  if (result.ok) succeed(sim, instance, node, block, { output: result.value, isWorker: false, cacheKey });
  else failAttempt(sim, instance, node, block, { failure: result.error, isWorker: false });
}

function pureResult(
  instance: Instance,
  node: TreeNode,
  handler: string,
  params: Json,
): Result<Json, Failure> {
  switch (handler) {
    case 'log':
      return ok({ message: messageOf(params) });
    case 'transform':
      return ok(params);
    case 'fail':
      return err(failure(params));
    case 'assert':
      return assertion(instance, node, params);
    case 'set_state':
    case 'get_state':
      return stateResult(instance, handler, params);
    default:
      return ok({});
  }
}

function failure(params: Json): Failure {
  const message = member(params, 'message');
  const code = member(params, 'code');
  const details = member(params, 'details');
  return {
    message: typeof message === 'string' ? message : 'forced failure',
    retryable: member(params, 'retryable') === true,
    ...(typeof code === 'string' ? { code } : {}),
    ...(details === undefined ? {} : { details }),
  };
}

function assertion(instance: Instance, node: TreeNode, params: Json): Result<Json, Failure> {
  const condition = member(params, 'condition');
  if (typeof condition !== 'string' || condition === '') return err(permanent('INVALID_PARAMS'));
  const value = evaluateExpression(condition, templateScope(instance, node), 'lenient');
  if (value.ok && isTruthy(value.value)) return ok({ condition, passed: true });
  return err({ ...permanent('ASSERTION_FAILED'), details: { condition, passed: false } });
}

function stateResult(instance: Instance, handler: string, params: Json): Result<Json, Failure> {
  const key = member(params, 'key');
  if (typeof key !== 'string' || key === '') return err(permanent('INVALID_PARAMS'));
  if (handler === 'get_state') return ok({ key, value: instance.state.get(key) ?? null });
  const value = member(params, 'value');
  if (value === undefined) return err(permanent('INVALID_PARAMS'));
  if (key.startsWith('__')) return err(permanent('RESERVED_KEY'));
  instance.state.set(key, value);
  return ok({ key, value });
}

/** Absent is not the same as null here. */
function messageOf(params: Json): Json {
  const message = member(params, 'message');
  return message === undefined ? 'no message' : message;
}
