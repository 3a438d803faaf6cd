import type { Json, JsonObject } from '../../src/core/json.ts';
import { type Draw, drawFrom } from './draw.ts';
import { generateHappenings } from './generate-happenings.ts';
import { type Generation, generateStep } from './generate-step.ts';
import type { SequenceSource, World } from './world.ts';

const DEPTH_MAX = 3;
const BLOCKS_MAX = 14;

/** The case of a seed: a tree of blocks of any kind in any other, answers for its steps, and what arrives when. */
export function generateWorld(seed: number): World {
  const draw = drawFrom(seed);
  const generation: Generation = {
    draw,
    answers: {},
    gates: [],
    steps: [],
    blocks: 0,
    names: 0,
    isChild: false,
    itemVars: [],
    isConcurrent: false,
    hasRetries: draw.chance(60),
    failPercent: draw.oneOf([0, 10, 20, 40]),
  };
  const child: SequenceSource = { name: 'child', blocks: childBlocks(generation) };
  generation.isChild = false;
  generation.blocks = 0;
  generation.steps.length = 0;
  const blocks = generateList(generation, 0, { atLeast: 1 });
  const main: SequenceSource = { name: 'main', blocks };
  const { gates, answers } = generation;
  return {
    main,
    others: [child],
    data: { n: draw.below(3), list: [1, 2, 3].slice(0, draw.below(4)), flag: draw.chance(50) },
    answers,
    happenings: generateHappenings(draw, gates),
  };
}

function childBlocks(generation: Generation): Json {
  generation.isChild = true;
  generation.blocks = BLOCKS_MAX - 3;
  return generateList(generation, DEPTH_MAX - 1, { atLeast: 1 });
}

function generateList(
  generation: Generation,
  depth: number,
  { atLeast }: { readonly atLeast: number },
): JsonObject[] {
  const { draw } = generation;
  const count = Math.max(atLeast, draw.oneOf([0, 1, 1, 1, 2, 2, 3]));
  return Array.from({ length: count }, () => generateBlock(generation, depth));
}

type Kind =
  | 'parallel'
  | 'race'
  | 'router'
  | 'try_catch'
  | 'loop'
  | 'for_each'
  | 'sub_sequence'
  | 'a_b_split'
  | 'cancellation_scope'
  | 'saga';

const KINDS: readonly Kind[] = [
  'parallel',
  'race',
  'router',
  'try_catch',
  'try_catch',
  'loop',
  'for_each',
  'sub_sequence',
  'a_b_split',
  'cancellation_scope',
  'saga',
];

function generateBlock(generation: Generation, depth: number): JsonObject {
  const { draw } = generation;
  generation.blocks += 1;
  const isLeaf = depth >= DEPTH_MAX || generation.blocks >= BLOCKS_MAX || draw.chance(30 + 15 * depth);
  if (isLeaf) return generateStep(generation);
  const kind = draw.oneOf(KINDS);
  // The id of a child, on which its variants depend, is the engine's to choose.
  if ((kind === 'sub_sequence' || kind === 'a_b_split') && generation.isChild)
    return generateStep(generation);
  return compositeOf(generation, kind, depth + 1);
}

/** A composite of this kind whose lists are drawn. */
function compositeOf(generation: Generation, kind: Kind, depth: number): JsonObject {
  const { draw } = generation;
  const id = nameOf(generation, kind);
  const list = (atLeast: number): JsonObject[] => generateList(generation, depth, { atLeast });
  switch (kind) {
    case 'parallel':
    case 'race': {
      const branches = side(generation, () =>
        Array.from({ length: 2 + draw.below(2) }, () => list(kind === 'race' ? 1 : 0)),
      );
      if (kind === 'parallel') return { type: kind, id, branches, ...earlyEnd(draw) };
      return { type: kind, id, branches, semantics: draw.oneOf(['first_to_resolve', 'first_to_succeed']) };
    }
    case 'router':
      return {
        type: kind,
        id,
        routes: [
          { condition: condition(generation), blocks: list(0) },
          { condition: condition(generation), blocks: list(0) },
        ],
        ...(draw.chance(50) ? { default: list(0) } : {}),
      };
    case 'try_catch':
      return {
        type: kind,
        id,
        try_block: list(1),
        catch_block: list(0),
        ...(draw.chance(60) ? { finally_block: list(0) } : {}),
      };
    case 'loop':
      return { ...loopMembers(generation), type: kind, id, body: list(1) };
    case 'for_each':
      return forEach(generation, id, list);
    case 'sub_sequence':
      return { type: kind, id, sequence_name: draw.chance(95) ? 'child' : 'missing', input: input(draw) };
    case 'a_b_split':
      return {
        type: kind,
        id,
        variants: ['x', 'y'].map((name) => ({ name, weight: 1 + draw.below(3), blocks: list(0) })),
      };
    case 'cancellation_scope':
      return { type: kind, id, blocks: list(1) };
    case 'saga':
      return { type: kind, id, steps: sagaSteps(generation, id, depth) };
  }
}

function side<T>(generation: Generation, make: () => T): T {
  const was = generation.isConcurrent;
  generation.isConcurrent = true;
  const made = make();
  generation.isConcurrent = was;
  return made;
}

function nameOf(generation: Generation, kind: string): string {
  generation.names += 1;
  return `${kind}_${generation.names}`;
}

function loopMembers(generation: Generation): JsonObject {
  const { draw } = generation;
  return {
    condition: draw.chance(80) ? 'true' : condition(generation),
    max_iterations: 1 + draw.below(3),
    continue_on_error: draw.chance(30),
    ...(draw.chance(25) ? { break_on: condition(generation) } : {}),
    ...(draw.chance(25) ? { poll_interval: 1 + draw.below(9) } : {}),
    ...(draw.chance(25) ? { retain_iterations: 1 } : {}),
  };
}

function forEach(generation: Generation, id: string, list: (atLeast: number) => JsonObject[]): JsonObject {
  const { draw } = generation;
  const itemVar = draw.chance(80) ? `item_${id.length}${generation.names}` : 'item';
  generation.itemVars.push(itemVar);
  const body = list(1);
  generation.itemVars.pop();
  return {
    type: 'for_each',
    id,
    collection: draw.oneOf(['list', 'data.list', '{{data.list}}', 'missing', '{{nope}}', 'list', 'list']),
    item_var: itemVar,
    body,
    ...(draw.chance(25) ? { retain_iterations: 1 } : {}),
    ...(draw.chance(20) ? { max_iterations: 2 } : {}),
  };
}

/** RULINGS B25; the two exclude each other. */
function earlyEnd(draw: Draw): JsonObject {
  if (draw.chance(25)) return { fail_fast: true };
  return draw.chance(25) ? { min_successful: 1 + draw.below(2) } : {};
}

const input = (draw: Draw): Json => draw.oneOf<Json>([null, { n: '{{data.n}}' }, { list: [1, 2] }]);

function sagaSteps(generation: Generation, id: string, depth: number): Json {
  const { draw } = generation;
  return Array.from({ length: 1 + draw.below(3) }, (_, index) => ({
    id: `${id}_${index}`,
    action: generateBlock(generation, depth),
    ...(draw.chance(75) ? { compensation: generateBlock(generation, depth) } : {}),
  }));
}

/** Conditions over what the case changes: data and outputs of steps. */
function condition({ draw, steps, isConcurrent }: Generation): string {
  const block = steps.length === 0 ? 'none' : draw.oneOf(steps);
  return draw.oneOf([
    'true',
    'false',
    'data.n > 0',
    'flag',
    `outputs.${block}`,
    `outputs.${block}.v == 1`,
    isConcurrent ? 'true' : 'data._error',
    'data.w == 1',
    'n ==',
  ]);
}
