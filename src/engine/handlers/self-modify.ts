import type { Failure } from '../../core/failure.ts';
import { isJsonArray, type Json, type JsonObject, member } from '../../core/json.ts';
import type { StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { invalidParams } from './params.ts';

const NAME = 'self_modify';

/**
 * `self_modify`: injects `blocks` into the root list of its own instance in the commit of the step ([OP-12]). What cannot
 * be injected fails it with `INVALID_BLOCKS`. Result `{"_self_modify": true, "blocks", "position", "injected_count"}`; in a
 * dry run the blocks are checked and not injected.
 */
export const selfModifyHandler: StepHandler = {
  name: NAME,
  kind: 'pure',
  checkParams,
  dryRun: ({ params }) => {
    const { blocks, position } = injectionOf(params);
    const would = { inject_count: blocks.length, position };
    const result = { ...resultOf(params, 0), _self_modify: false, would_inject: blocks.length };
    return inject(params, { dry_run: true, handler: NAME, would, ...result });
  },
  run: ({ params }) => inject(params, resultOf(params, injectionOf(params).blocks.length)),
};

function checkParams(params: Json): Failure | null {
  const blocks = member(params, 'blocks');
  if (!isJsonArray(blocks) || blocks.length === 0) {
    const message = `${NAME}: blocks must be an array of at least one block`;
    return { message, retryable: false, code: 'INVALID_BLOCKS' };
  }
  const position = member(params, 'position') ?? null;
  const isIndex = typeof position === 'number' && Number.isSafeInteger(position) && position >= 0;
  return position === null || isIndex ? null : invalidParams(NAME, 'position', 'must be an integer from 0');
}

function inject(params: Json, output: JsonObject): StepOutcome {
  return { ok: true, output, writes: [{ type: 'inject_blocks', ...injectionOf(params) }] };
}

function resultOf(params: Json, injectedCount: number): JsonObject {
  return { _self_modify: true, ...injectionOf(params), injected_count: injectedCount };
}

function injectionOf(params: Json): { readonly blocks: readonly Json[]; readonly position: number | null } {
  const blocks = member(params, 'blocks');
  const position = member(params, 'position');
  return {
    blocks: isJsonArray(blocks) ? blocks : [],
    position: typeof position === 'number' ? position : null,
  };
}
