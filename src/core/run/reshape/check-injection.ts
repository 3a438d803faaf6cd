import { type DocumentError, parseSequence } from '../../definition/parse-sequence.ts';
import { documentError } from '../../definition/problems.ts';
import { serialiseSequence } from '../../definition/serialise.ts';
import { type Json, type JsonObject, isJsonArray } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Plan } from '../plan.ts';
import type { Injection, InjectionPlace } from './injected.ts';
import { injectedInto, placeAt } from './injection.ts';

/**
 * Checks blocks that are to be injected, by themselves and together with what is there ([OP-9], the rules of a publish).
 * `position` null: at the end.
 */
export function checkInjection(
  plan: Plan,
  blocks: Json,
  position: number | null,
): Result<Injection, DocumentError> {
  if (!isJsonArray(blocks) || blocks.length === 0) {
    const message = 'blocks must be an array of at least one block';
    return err(documentError(400, [{ path: 'blocks', message }]));
  }
  const alone = parseSequence({ ...headOf(plan), blocks });
  if (!alone.ok) return alone;
  const injection: Injection = {
    ...placeAt(plan.document.blocks, position),
    blocks: alone.value.document.blocks,
  };
  const together = [...injectedInto(plan.document.blocks, injection)];
  const all = parseSequence(serialiseSequence({ ...plan.document, blocks: together }));
  return all.ok ? ok(injection) : all;
}

/** The document without its blocks: what is needed to check others by themselves. */
function headOf({ document }: Plan): JsonObject {
  const { id, tenant_id, namespace, name, version, created_at } = document;
  return { id, tenant_id, namespace, name, version, created_at };
}

/** An injection as it was stored; it passed all checks when it was accepted. */
export function readInjection(
  plan: Plan,
  stored: InjectionPlace & { readonly blocks: readonly JsonObject[] },
): Injection {
  const { position, before, after } = stored;
  const parsed = parseSequence({ ...headOf(plan), blocks: stored.blocks });
  if (!parsed.ok) throw new Error(`injected blocks cannot be read: ${parsed.error.message}`);
  return { position, before, after, blocks: parsed.value.document.blocks };
}
