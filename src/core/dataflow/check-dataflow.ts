import type { Block, SequenceDocument } from '../definition/document.ts';
import { shorten } from '../definition/path.ts';
import { type BlockVisit, walkBlocks } from '../definition/walk.ts';
import { compareCodePoints, type Json } from '../json.ts';
import { blockTexts } from './block-texts.ts';
import { type Binding, boundNames } from './bound-names.ts';
import { type Reference, scanReferences } from './scan-references.ts';
import { type WalkedSchema, walkedSchema } from './schema-views.ts';
import { walkSchema, type Walked } from './walk-schema.ts';

export const DATAFLOW_CODES = [
  'MISSING_PRODUCER',
  'SCHEMA_PATH_MISSING',
  'TYPE_UNKNOWN',
  'VALUE_MAY_BE_ABSENT',
  'VALUE_MAY_BE_NULL',
] as const;
export type DataflowCode = (typeof DATAFLOW_CODES)[number];

/** What is doubtful about one reference. Only `TYPE_UNKNOWN` is a warning: nothing can be said about it. */
export interface DataflowFinding {
  readonly code: DataflowCode;
  readonly severity: 'error' | 'warning';
  /** Id of the block whose text it is. */
  readonly consumer: string;
  readonly reference: string;
  readonly summary: string;
}

export interface DataflowReport {
  /** Distinct references: block, text and whether there is a fallback. */
  readonly referencesChecked: number;
  /** By consumer, code and reference; at most 10,000. */
  readonly findings: readonly DataflowFinding[];
  /** Findings that are left out. */
  readonly omittedCount: number;
}

const FINDINGS_MAX = 10_000;

interface Checking {
  readonly blocks: ReadonlyMap<string, Block>;
  readonly input: WalkedSchema | null;
  readonly outputs: Map<string, WalkedSchema | null>;
}

/**
 * Checks what the texts of the main tree refer to against the schemas of the document (http-api.md 4.2). Producers are
 * all blocks, in whatever order they stand.
 */
export function checkDataflow(document: SequenceDocument): DataflowReport {
  const visits = [...walkBlocks(document.blocks)];
  const checking: Checking = {
    blocks: new Map(visits.map(({ block }) => [block.id, block])),
    input: document.input_schema === undefined ? null : walkedSchema(document.input_schema),
    outputs: new Map(),
  };
  const bound = boundNames(visits);
  const findings = new Map<string, DataflowFinding>();
  let referencesChecked = 0;
  for (const visit of visits) {
    for (const reference of distinct(visit)) {
      referencesChecked += 1;
      const finding = findingOf(checking, visit.block.id, reference, bound.at(visit));
      if (finding !== null) findings.set(keyOf(finding), finding);
    }
  }
  const sorted = [...findings.values()].sort(inOrder);
  const omittedCount = Math.max(0, sorted.length - FINDINGS_MAX);
  return { referencesChecked, findings: sorted.slice(0, FINDINGS_MAX), omittedCount };
}

function distinct({ block }: BlockVisit): Iterable<Reference> {
  const references = blockTexts(block).flatMap(scanReferences);
  return new Map(references.map((found) => [`${found.hasFallback} ${found.text}`, found])).values();
}

function keyOf({ consumer, code, reference }: DataflowFinding): string {
  return [consumer, code, reference].join('\u0000');
}

function inOrder(left: DataflowFinding, right: DataflowFinding): number {
  return (
    compareCodePoints(left.consumer, right.consumer) ||
    compareCodePoints(left.code, right.code) ||
    compareCodePoints(left.reference, right.reference)
  );
}

function findingOf(
  checking: Checking,
  consumer: string,
  reference: Reference,
  bindingOf: (name: string) => Binding | null,
): DataflowFinding | null {
  const { root, segments, text } = reference;
  const find = (code: DataflowCode, summary: string): DataflowFinding => {
    const severity = code === 'TYPE_UNKNOWN' ? 'warning' : 'error';
    return { code, severity, consumer, reference: text, summary };
  };
  const shown = shorten(text);
  const [first = '', ...rest] = segments;
  if (root === 'outputs' && !checking.blocks.has(first)) {
    return find('MISSING_PRODUCER', `no block '${shorten(first)}' is there to produce ${shown}`);
  }
  const binding = root === 'data' ? bindingOf(first) : null;
  if (binding === 'answer' && rest.length === 0) return null;
  if (binding !== null) {
    return find('TYPE_UNKNOWN', `${shown} is put into data while the sequence runs; no schema describes it`);
  }
  const schema = schemaOf(checking, root, first);
  if (schema === null) return find('TYPE_UNKNOWN', `no schema describes ${shown}`);
  const path = root === 'outputs' ? rest : segments;
  const walked = walkSchema(schema, path);
  const before = root === 'outputs' ? ['outputs', first] : ['data'];
  return judged(walked, reference, before, path, find);
}

function judged(
  walked: Walked,
  { text, hasFallback }: Reference,
  before: readonly string[],
  path: readonly string[],
  find: (code: DataflowCode, summary: string) => DataflowFinding,
): DataflowFinding | null {
  const shown = shorten(text);
  if (walked.kind !== 'found') {
    const place = shorten([...before, ...path.slice(0, walked.at)].join('.'));
    const name = shorten(path[walked.at] ?? '');
    return walked.kind === 'missing'
      ? find('SCHEMA_PATH_MISSING', `${place} has a closed schema without ${name}`)
      : find('TYPE_UNKNOWN', `the schema of ${place} does not describe ${name}`);
  }
  if (hasFallback) return null;
  if (walked.isOptional) return find('VALUE_MAY_BE_ABSENT', `${shown} may be absent, and has no fallback`);
  return walked.isNullable ? find('VALUE_MAY_BE_NULL', `${shown} may be null, and has no fallback`) : null;
}

function schemaOf(checking: Checking, root: Reference['root'], blockId: string): WalkedSchema | null {
  if (root === 'data') return checking.input;
  if (root !== 'outputs') return null;
  const known = checking.outputs.get(blockId);
  if (known !== undefined) return known;
  const schema = outputSchema(checking.blocks.get(blockId));
  const walked = schema === undefined ? null : walkedSchema(schema);
  checking.outputs.set(blockId, walked);
  return walked;
}

function outputSchema(block: Block | undefined): Json | undefined {
  return block?.type === 'step' ? block.output_schema : undefined;
}
