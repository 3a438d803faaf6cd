import { checkDataflow } from '../dataflow/check-dataflow.ts';
import type { SequenceDocument } from '../definition/document.ts';
import { schemaProblems } from '../definition/json-schema.ts';
import { shorten } from '../definition/path.ts';
import type { Problem } from '../definition/problems.ts';
import { type BlockVisit, documentLists, walkBlocks } from '../definition/walk.ts';
import type { Warning } from '../definition/warning.ts';
import type { Json } from '../json.ts';
import { checked, counted, type PreflightCheck, type PreflightFinding } from './check.ts';

type Affected = PreflightFinding['affected'];

/** `definition_valid`: the rules that a publish would refuse, but for schemas. */
export function definitionCheck(name: string, problems: readonly Problem[]): PreflightCheck {
  const findings = problems.map(
    ({ block_id: blockId, message, rule, path }): PreflightFinding => ({
      code: 'INVALID_DEFINITION',
      severity: 'error',
      summary: [
        message,
        ...(rule === undefined ? [] : [`(${rule})`]),
        ...(path === '' ? [] : [`at ${path}`]),
      ].join(' '),
      affected: blockOr(name, blockId),
      confidence: 'certain',
    }),
  );
  return checked('definition_valid', findings, {
    clean: 'structure is valid',
    found: (count) => `structure breaks ${counted(count, 'rule', 'rules')}`,
  });
}

/** `lint_clean`: what a publish would warn of. Handler names have a check of their own. */
export function lintCheck(name: string, warnings: readonly Warning[]): PreflightCheck {
  const findings = warnings.map(
    ({ code, block_id: blockId, message, path }): PreflightFinding => ({
      code: 'LINT_WARNING',
      severity: 'warning',
      summary: `${code}: ${message}${path === undefined ? '' : ` at ${path}`}`,
      affected: blockOr(name, blockId),
      confidence: 'certain',
    }),
  );
  return checked('lint_clean', findings, {
    clean: 'nothing looks wrong',
    found: (count) => counted(count, 'thing looks wrong', 'things look wrong'),
  });
}

function blockOr(name: string, blockId: string | undefined): Affected {
  return blockId === undefined ? { kind: 'sequence', id: name } : { kind: 'block', id: blockId };
}

/** `input_schema_valid`. */
export function inputSchemaCheck(document: SequenceDocument): PreflightCheck {
  const findings = schemaFindings('INVALID_INPUT_SCHEMA', document.input_schema, {
    kind: 'sequence',
    id: document.name,
  });
  return checked('input_schema_valid', findings, {
    clean: document.input_schema === undefined ? 'no input_schema is given' : 'input_schema is usable',
    found: () => 'input_schema is not usable',
  });
}

/** `output_schemas_valid`: of all steps, those of cleanup lists among them. */
export function outputSchemasCheck(document: SequenceDocument): PreflightCheck {
  const findings = stepsOf(document).flatMap(({ block }) =>
    schemaFindings('INVALID_OUTPUT_SCHEMA', block.output_schema, { kind: 'block', id: block.id }),
  );
  return checked('output_schemas_valid', findings, {
    clean: 'every output_schema is usable',
    found: (count) => counted(count, 'output_schema is not usable', 'faults in output_schemas'),
  });
}

function schemaFindings(
  code: 'INVALID_INPUT_SCHEMA' | 'INVALID_OUTPUT_SCHEMA',
  schema: Json | undefined,
  affected: Affected,
): readonly PreflightFinding[] {
  if (schema === undefined) return [];
  const member =
    code === 'INVALID_INPUT_SCHEMA' ? 'input_schema' : `output_schema of '${shorten(affected.id)}'`;
  return schemaProblems(schema).map(({ pointer, message }) => ({
    code,
    severity: 'error',
    summary: `${member}: ${message}${pointer === '' ? '' : ` at ${shorten(pointer)}`}`,
    affected,
    confidence: 'certain',
  }));
}

/** `typed_dataflow_compatible`: the report of the dataflow check. */
export function dataflowCheck(document: SequenceDocument): PreflightCheck {
  const { findings, omittedCount } = checkDataflow(document);
  const told = findings.map(
    ({ code, severity, consumer, reference, summary }): PreflightFinding => ({
      code,
      severity,
      summary: `${shorten(reference)} in consumer '${shorten(consumer)}': ${summary}`,
      affected: { kind: 'block', id: consumer },
      confidence: 'high',
    }),
  );
  return checked('typed_dataflow_compatible', told, {
    clean: 'every reference fits its schema',
    found: (count) => counted(count + omittedCount, 'reference is in doubt', 'references are in doubt'),
  });
}

/** `when_guards_valid`: an empty guard is null and so skips its step. */
export function whenGuardsCheck(document: SequenceDocument): PreflightCheck {
  const findings = stepsOf(document)
    .filter(({ block }) => block.when?.trim() === '')
    .map(
      ({ block }): PreflightFinding => ({
        code: 'EMPTY_WHEN_GUARD',
        severity: 'warning',
        summary: `the when of step '${shorten(block.id)}' is empty, so the step never runs`,
        affected: { kind: 'block', id: block.id },
        remedy: 'Write an expression, or leave when out.',
        confidence: 'certain',
      }),
    );
  return checked('when_guards_valid', findings, {
    clean: 'no guard is empty',
    found: (count) => counted(count, 'guard is empty', 'guards are empty'),
  });
}

type StepVisit = BlockVisit & { readonly block: Extract<BlockVisit['block'], { type: 'step' }> };

function stepsOf(document: SequenceDocument): readonly StepVisit[] {
  return documentLists(document).flatMap(({ name, blocks }) =>
    [...walkBlocks(blocks, [name])].flatMap((visit) =>
      visit.block.type === 'step' ? [{ ...visit, block: visit.block }] : [],
    ),
  );
}
