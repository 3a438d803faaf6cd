import type { Json } from '../json.ts';
import { expressionPaths } from './expression-paths.ts';
import { expressionError, type Fault, quoteText, templateError } from './language-error.ts';
import { expressionTokens, parseExpression } from './parse-expression.ts';
import { readingFaults, segmentFaults } from './segment-faults.ts';
import { parseTemplate } from './parse-template.ts';
import { isSymbol } from './parser.ts';
import type { Path } from './paths.ts';
import { templateChains, templatePaths } from './template-paths.ts';
import { templateStrings } from './template-strings.ts';
import type { Chain } from './template-syntax.ts';
import type { Token } from './tokens.ts';

/** What publishing says about a text; it never stops a publish (sequences.md 3.3, [MODE-4]). */
export interface LanguageWarning {
  readonly code: 'bad_expression' | 'bad_template' | 'unknown_output_ref' | 'hyphen_in_expression';
  readonly message: string;
}

/** Warnings of one value; a document with more mistakes than this gains nothing from the rest. */
const WARNINGS_MAX = 100;

/** Warnings of an expression. `blockIds` are all blocks of the document. */
export function lintExpression(text: string, blockIds: ReadonlySet<string>): readonly LanguageWarning[] {
  const hyphenated = hyphenatedIds(text, blockIds);
  const hyphens = hyphenated.map((id): LanguageWarning => {
    const instead = quoteText(`get(outputs, '${id}')`);
    return {
      code: 'hyphen_in_expression',
      message: `${quoteText(id)} is read as a subtraction; write ${instead}`,
    };
  });
  const parsed = parseExpression(text);
  if (!parsed.ok) {
    return [...hyphens, { code: 'bad_expression', message: expressionError(parsed.error).message }];
  }
  // The warning about the hyphen already says what is wrong with `outputs.a` in `outputs.a-b`.
  const known = new Set([...blockIds, ...hyphenated.map((id) => id.slice(0, id.indexOf('-')))]);
  const unknown = unknownOutputs(expressionPaths(parsed.value), known);
  return [...hyphens, ...unknown.map((name) => unknownOutput(name, ''))].slice(0, WARNINGS_MAX);
}

/**
 * Warnings of the templates in a JSON value. `boundNames`, when given, are the names that enclosing `for_each` blocks
 * bind; without them any identifier may be one, and an unknown root is only found when the template is resolved.
 */
export function lintTemplates(
  value: Json,
  blockIds: ReadonlySet<string>,
  boundNames?: ReadonlySet<string>,
): readonly LanguageWarning[] {
  const warnings: LanguageWarning[] = [];
  for (const { text, pointer } of templateStrings(value)) {
    if (warnings.length >= WARNINGS_MAX) break;
    const parsed = parseTemplate(text);
    if (!parsed.ok) {
      warnings.push(badTemplate(parsed.error, pointer));
      continue;
    }
    const faults = templateChains(parsed.value).flatMap((chain) => chainFaults(chain, boundNames));
    const unknown = unknownOutputs(templatePaths(parsed.value), blockIds);
    warnings.push(...faults.map((fault) => badTemplate(fault, pointer)));
    warnings.push(...unknown.map((name) => unknownOutput(name, pointer)));
  }
  return warnings.slice(0, WARNINGS_MAX);
}

function badTemplate(fault: Fault, pointer: string): LanguageWarning {
  return { code: 'bad_template', message: templateError({ ...fault, pointer }).message };
}

function unknownOutput(name: string, pointer: string): LanguageWarning {
  const message = `outputs.${name} is read, but no block has the id ${quoteText(name)}`;
  return { code: 'unknown_output_ref', message: templateError({ message, pointer }).message };
}

/** Block ids that are read and that no block has, each once. */
function unknownOutputs(paths: readonly Path[], blockIds: ReadonlySet<string>): readonly string[] {
  const names = paths.flatMap(({ root, segments }) => (root === 'outputs' ? segments.slice(0, 1) : []));
  return [...new Set(names)].filter((name) => !blockIds.has(name));
}

/** Ids with a hyphen that an expression spells after `outputs.` or `steps.`, each once. */
function hyphenatedIds(text: string, blockIds: ReadonlySet<string>): readonly string[] {
  const tokens = expressionTokens(text);
  if (!tokens.ok) return [];
  const ids = tokens.value.flatMap((token, index) => {
    if (token.kind !== 'word' || !(token.text.startsWith('outputs.') || token.text.startsWith('steps.')))
      return [];
    const run = text.slice(token.start, endOfRun(token, tokens.value.slice(index + 1)));
    const [, id = ''] = run.split('.');
    return id.includes('-') && blockIds.has(id) ? [id] : [];
  });
  return [...new Set(ids)];
}

/** Where the words, numbers and hyphens end that follow a token without a blank between them. */
function endOfRun(first: Token, others: readonly Token[]): number {
  let { end } = first;
  for (const token of others) {
    const joins = token.kind === 'word' || token.kind === 'number' || isSymbol(token, '-');
    if (!joins || token.start !== end) break;
    end = token.end;
  }
  return end;
}

/** What is doubtful in a chain that parses: an unbound root, a segment that can never count, a misspelt filter. */
function chainFaults(chain: Chain, boundNames: ReadonlySet<string> | undefined): readonly Fault[] {
  const { target } = chain.source;
  const unbound = target.kind === 'item' && boundNames?.has(target.name) === false;
  return [
    ...(unbound ? [chain.unknownRoot] : []),
    ...[chain.source, ...chain.segments].flatMap(readingFaults),
    ...segmentFaults(chain.segments),
  ];
}
