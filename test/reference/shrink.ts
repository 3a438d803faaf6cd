import { isJsonArray, isJsonObject, type Json, type JsonObject, jsonObject } from '../../src/core/json.ts';
import type { World } from './world.ts';

/** More tries than a shrink needs; each one plays the case with both implementations. */
const TRIES_MAX = 800;

/** The smallest case that still fails, found by leaving parts out as long as it does. */
export async function shrink(world: World, fails: (world: World) => Promise<boolean>): Promise<World> {
  let smallest = world;
  let tries = 0;
  for (let found = true; found && tries < TRIES_MAX; ) {
    found = false;
    for (const smaller of smallerWorlds(smallest)) {
      tries += 1;
      if (tries > TRIES_MAX) break;
      if (!(await failsSurely(smaller, fails))) continue;
      smallest = smaller;
      found = true;
      break;
    }
  }
  return smallest;
}

/** A part that is left out may make the document one that nobody accepts. */
async function failsSurely(world: World, fails: (world: World) => Promise<boolean>): Promise<boolean> {
  try {
    return await fails(world);
  } catch {
    return false;
  }
}

function* smallerWorlds(world: World): Generator<World> {
  for (const [index] of world.happenings.entries()) {
    yield { ...world, happenings: world.happenings.filter((_each, at) => at !== index) };
  }
  for (const blocks of smallerLists(world.main.blocks)) yield { ...world, main: { ...world.main, blocks } };
  for (const [index, other] of world.others.entries()) {
    for (const blocks of smallerLists(other.blocks)) {
      yield { ...world, others: world.others.with(index, { ...other, blocks }) };
    }
  }
  for (const [block, answers] of Object.entries(world.answers)) {
    if (answers.length > 1) yield { ...world, answers: { ...world.answers, [block]: answers.slice(0, -1) } };
  }
  for (const block of Object.keys(world.answers)) {
    if (JSON.stringify([world.main, world.others]).includes(`"${block}"`)) continue;
    yield {
      ...world,
      answers: Object.fromEntries(Object.entries(world.answers).filter(([key]) => key !== block)),
    };
  }
}

/** A list with one block left out, put down to what is inside it, or made smaller itself. */
function* smallerLists(list: Json): Generator<Json[]> {
  if (!isJsonArray(list)) return;
  for (const [index, block] of list.entries()) {
    yield list.filter((_each, at) => at !== index);
    for (const inner of innerLists(block))
      yield [...list.slice(0, index), ...inner, ...list.slice(index + 1)];
    for (const smaller of smallerBlocks(block)) yield list.with(index, smaller);
  }
}

const LIST_MEMBERS = ['body', 'try_block', 'catch_block', 'finally_block', 'blocks', 'default'];
const NEEDED = new Set([
  'type',
  'id',
  'handler',
  'condition',
  'collection',
  'sequence_name',
  'action',
  'name',
  'weight',
  'max_iterations',
]);

function innerLists(block: Json): readonly (readonly Json[])[] {
  if (!isJsonObject(block)) return [];
  return Object.entries(block).flatMap(([key, value]) => {
    if (!isJsonArray(value)) return key === 'action' || key === 'compensation' ? [[value]] : [];
    if (LIST_MEMBERS.includes(key)) return [value];
    if (key === 'branches') return value.flatMap((branch) => (isJsonArray(branch) ? [branch] : []));
    return ['routes', 'variants', 'steps'].includes(key) ? value.flatMap(innerLists) : [];
  });
}

function* smallerBlocks(block: Json): Generator<JsonObject> {
  if (!isJsonObject(block)) return;
  for (const [key, value] of Object.entries(block)) {
    const put = (smaller: Json): JsonObject =>
      jsonObject(Object.entries(block).map(([name, each]) => [name, name === key ? smaller : each]));
    if (!NEEDED.has(key)) yield jsonObject(Object.entries(block).filter(([name]) => name !== key));
    if (LIST_MEMBERS.includes(key)) for (const smaller of smallerLists(value)) yield put(smaller);
    if (key === 'action' || key === 'compensation') {
      for (const inner of innerLists(value)) if (inner.length === 1) yield put(inner[0] ?? null);
      for (const smaller of smallerBlocks(value)) yield put(smaller);
    }
    if (key === 'branches' || key === 'routes' || key === 'variants' || key === 'steps')
      yield* parts(value, put);
  }
}

function* parts(list: Json, put: (smaller: Json) => JsonObject): Generator<JsonObject> {
  if (!isJsonArray(list)) return;
  for (const [index, part] of list.entries()) {
    yield put(list.filter((_each, at) => at !== index));
    const smaller = isJsonArray(part) ? smallerLists(part) : smallerBlocks(part);
    for (const each of smaller) yield put(list.with(index, each));
  }
}
