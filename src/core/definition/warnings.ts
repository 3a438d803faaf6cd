import { formatPath, shorten } from './path.ts';
import type { Block, SequenceDocument } from './document.ts';
import { documentLists, walkBlocks, type BlockVisit } from './walk.ts';
import { warnAboutComposite } from './warnings-composite.ts';
import { warnAboutTexts } from './warnings-text.ts';
import { warnAboutStep } from './warnings-step.ts';
import { warnAboutParams } from './warnings-params.ts';
import type { Warn, Warning } from './warning.ts';

/**
 * What looks wrong in a valid document (sequences.md 3.3), without `unknown_field`, which is found while reading. With
 * `knownHandlers` absent no handler name is questioned.
 */
export function documentWarnings(
  document: SequenceDocument,
  knownHandlers?: ReadonlySet<string>,
): readonly Warning[] {
  const warnings: Warning[] = [];
  warnAboutInterceptors(document, warnings);
  const mainIds = idsOf(document.blocks);
  for (const { name, blocks } of documentLists(document)) {
    const ids = name === 'blocks' ? mainIds : new Set([...mainIds, ...idsOf(blocks)]);
    for (const visit of walkBlocks(blocks, [name])) {
      const warn = recorder(warnings, visit);
      if (visit.block.type === 'step') warnAboutStep(visit.block, warn, knownHandlers);
      else warnAboutComposite(visit.block, visit, warn);
      if (name === 'blocks') warnUnreachable(visit, warn);
      else warnNestedCleanup(visit, name, warn);
      warnAboutTexts(visit, ids, warn);
    }
  }
  return warnings;
}

function recorder(warnings: Warning[], visit: BlockVisit): Warn {
  return (code, message, path = []) => {
    const place = formatPath([...visit.path, ...path]);
    warnings.push({ code, block_id: shorten(visit.block.id), path: place, message });
  };
}

function idsOf(blocks: readonly Block[]): ReadonlySet<string> {
  return new Set([...walkBlocks(blocks)].map((visit) => visit.block.id));
}

/** All that these do is written with the step they run as, and an interceptor changes nothing of a run ([INT-5]). */
const WRITING_HANDLERS: ReadonlySet<string> = new Set([
  'set_state',
  'delete_state',
  'merge_state',
  'send_signal',
  'emit_event',
  'wait_for_event',
  'self_modify',
]);

/** Interceptors without `invoke` only leave a trace, which surprises people who expect a call ([INT-1]). */
function warnAboutInterceptors(document: SequenceDocument, warnings: Warning[]): void {
  for (const [name, interceptor] of Object.entries(document.interceptors ?? {})) {
    if (interceptor === undefined) continue;
    if (interceptor.invoke === true) {
      warnAboutParams(
        { ...interceptor, params: interceptor.params, path: ['params'] },
        (code, message, path) => {
          warnings.push({ code, path: formatPath(['interceptors', name, ...path]), message });
        },
      );
      if (!WRITING_HANDLERS.has(interceptor.handler)) continue;
      warnings.push({
        code: 'effect_dropped',
        path: `interceptors.${name}`,
        message: `'${interceptor.handler}' has no effect as an interceptor; its answer is recorded and nothing else`,
      });
      continue;
    }
    warnings.push({
      code: 'interceptor_not_invoked',
      path: `interceptors.${name}`,
      message: `'${shorten(interceptor.handler)}' is recorded and not called; set "invoke": true to call it`,
    });
  }
}

/** Nothing runs behind an unconditional `fail` in the same list. Hooks run whatever the one before them did ([HOOK-1]). */
function warnUnreachable(visit: BlockVisit, warn: Warn): void {
  const end = visit.siblings.findIndex(
    (block) => block.type === 'step' && block.handler === 'fail' && block.when === undefined,
  );
  const ending = end < visit.position ? visit.siblings[end] : undefined;
  if (ending !== undefined) warn('unreachable', `never runs, because '${shorten(ending.id)}' always fails`);
}

function warnNestedCleanup(visit: BlockVisit, list: string, warn: Warn): void {
  if (visit.parent !== null || visit.block.type === 'step') return;
  warn('nested_cleanup', `only steps run in ${list}; this ${visit.block.type} is passed over`);
}
