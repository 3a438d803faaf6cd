import { lintExpression, lintTemplates } from '../expressions/lint.ts';
import type { Json } from '../json.ts';
import { member } from '../json.ts';
import type { Block, StepBlock } from './document.ts';
import type { Path } from './path.ts';
import type { BlockVisit } from './walk.ts';
import type { Warn } from './warning.ts';

/** A text of a block that is read as an expression, or a value whose strings are read as templates (expressions.md 8). */
type LanguageText =
  | { readonly language: 'expression'; readonly text: string; readonly path: Path }
  | { readonly language: 'template'; readonly value: Json; readonly path: Path };

/** Warnings about expressions and templates: texts that do not parse, and outputs that no block has ([MODE-4]). */
export function warnAboutTexts(visit: BlockVisit, blockIds: ReadonlySet<string>, warn: Warn): void {
  const bound = boundNames(visit);
  for (const part of textsOf(visit.block)) {
    const found =
      part.language === 'expression'
        ? lintExpression(part.text, blockIds)
        : lintTemplates(part.value, blockIds, bound);
    for (const { code, message } of found) warn(code, message, part.path);
  }
}

/** Names that the `for_each` blocks around a block bind ([ITEM-2]). Its own item is not bound for what it reads itself. */
function boundNames(visit: BlockVisit): ReadonlySet<string> {
  const names = new Set<string>();
  for (let outer = visit.parent; outer !== null; outer = outer.parent) {
    if (outer.block.type === 'for_each') names.add(outer.block.item_var);
  }
  return names;
}

function textsOf(block: Block): readonly LanguageText[] {
  switch (block.type) {
    case 'step':
      return stepTexts(block);
    case 'router':
      return block.routes.flatMap((route, index) =>
        expression(route.condition, ['routes', index, 'condition']),
      );
    case 'loop':
      return [...expression(block.condition, ['condition']), ...expression(block.break_on, ['break_on'])];
    case 'for_each':
      // A text without braces is a bare path and has no syntax to be wrong ([EACH-1]).
      return block.collection.includes('{{') ? template(block.collection, ['collection']) : [];
    case 'sub_sequence':
      return template(block.input, ['input']);
    case 'parallel':
    case 'race':
    case 'try_catch':
    case 'a_b_split':
    case 'cancellation_scope':
    case 'saga':
      return [];
  }
}

function stepTexts(step: StepBlock): readonly LanguageText[] {
  const condition = step.handler === 'assert' ? member(step.params, 'condition') : undefined;
  return [
    ...expression(step.when, ['when']),
    ...expression(step.retry?.retry_if, ['retry', 'retry_if']),
    ...expression(typeof condition === 'string' ? condition : undefined, ['params', 'condition']),
    // Blocks that a step injects carry templates of their own time, which this document cannot judge.
    ...(step.handler === 'self_modify' ? [] : template(step.params, ['params'])),
    ...template(step.cache_key, ['cache_key']),
    ...template(step.rate_limit_key, ['rate_limit_key']),
    ...template(step.wait_for_input?.prompt, ['wait_for_input', 'prompt']),
    ...template(step.on_deadline_breach?.params, ['on_deadline_breach', 'params']),
  ];
}

function expression(text: string | undefined, path: Path): readonly LanguageText[] {
  return text === undefined || text.trim() === '' ? [] : [{ language: 'expression', text, path }];
}

function template(value: Json | undefined, path: Path): readonly LanguageText[] {
  return value === undefined ? [] : [{ language: 'template', value, path }];
}
