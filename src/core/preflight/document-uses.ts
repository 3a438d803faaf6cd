import { referencedIds } from '../credentials/references.ts';
import type { Block, SequenceDocument } from '../definition/document.ts';
import { documentLists, walkBlocks } from '../definition/walk.ts';
import { isPluginName } from '../run/leaf/unavailable.ts';

/** A queue that tasks of a handler go to. */
export interface UsedQueue {
  readonly handler: string;
  readonly queue: string;
}

export interface UsedSequence {
  readonly name: string;
  readonly version: number | null;
}

/** What a document needs besides itself, each once and in document order. */
export interface DocumentUses {
  /** Handlers of steps, their fallbacks, and interceptors that are invoked; plugins are not among them. */
  readonly handlers: readonly string[];
  readonly plugins: readonly string[];
  /** Only credentials that are named outright; a template may name others while it runs. */
  readonly credentials: readonly string[];
  readonly queues: readonly UsedQueue[];
  readonly sequences: readonly UsedSequence[];
}

/** Collects the uses of all lists, cleanup among them. */
export function documentUses(document: SequenceDocument): DocumentUses {
  const blocks = documentLists(document).flatMap((list) =>
    [...walkBlocks(list.blocks)].map(({ block }) => block),
  );
  const invoked = Object.values(document.interceptors ?? {}).filter(({ invoke }) => invoke === true);
  const names = [...blocks.flatMap(handlersOf), ...invoked.map(({ handler }) => handler)].filter(
    (name) => name.trim() !== '',
  );
  const params = [...blocks.flatMap(paramsOf), ...invoked.map((each) => each.params ?? null)];
  return {
    handlers: distinct(
      names.filter((name) => !isPluginName(name)),
      String,
    ),
    plugins: distinct(names.filter(isPluginName), String),
    credentials: distinct(
      params.flatMap((value) => [...referencedIds(value)]).filter((id) => !id.includes('{{')),
      String,
    ),
    queues: distinct(blocks.flatMap(queuesOf), ({ handler, queue }) => `${handler}\u0000${queue}`),
    sequences: distinct(blocks.flatMap(sequencesOf), ({ name, version }) => `${version} ${name}`),
  };
}

function handlersOf(block: Block): readonly string[] {
  if (block.type !== 'step') return [];
  return [block.handler, ...(block.fallback_handler === undefined ? [] : [block.fallback_handler])];
}

function paramsOf(block: Block) {
  return block.type === 'step' ? [block.params ?? null] : [];
}

function queuesOf(block: Block): readonly UsedQueue[] {
  if (block.type !== 'step' || block.queue_name === undefined) return [];
  return [{ handler: block.handler, queue: block.queue_name }];
}

function sequencesOf(block: Block): readonly UsedSequence[] {
  return block.type === 'sub_sequence' ? [{ name: block.sequence_name, version: block.version ?? null }] : [];
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
