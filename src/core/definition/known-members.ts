import type { Json, JsonObject } from '../json.ts';
import { isJsonArray, isJsonObject, jsonObject, member } from '../json.ts';
import { didYouMean } from './did-you-mean.ts';
import { SequenceDocument } from './document.ts';
import type { MemberTable } from './member-table.ts';
import { memberTable } from './member-table.ts';
import type { Path } from './path.ts';
import { formatPath, shorten } from './path.ts';
import type { Problem } from './problems.ts';
import { MAX_WARNINGS, type Warning } from './warning.ts';

/** The deepest block ([LIM-2]): the root list has depth 0. */
const MAX_BLOCK_DEPTH = 64;

/** Most blocks of one document, cleanup lists included ([LIM-3]). */
const MAX_BLOCKS = 5000;

/** A document as sent, reduced to what the schemas know. `refused` is set when a hard bound was met on the way. */
export interface KnownMembers {
  readonly body: Json;
  readonly warnings: readonly Warning[];
  readonly refused: Problem | null;
}

interface Reading {
  readonly warnings: Warning[];
  blockCount: number;
  refused: Problem | null;
}

/** Where the reader stands: the path, and the nearest block around it. */
interface Place {
  readonly path: Path;
  readonly blockId: string | undefined;
  readonly blockDepth: number;
}

/**
 * Drops unknown members with a warning each ([UNK-1]), drops optional members that are null (http-api.md 1.6), reads
 * the alias `ab_split` ([ENUM-3]), and counts blocks and their depth ([LIM-2], [LIM-3]). Values of the wrong type are
 * left as they are for the schemas to refuse. The body must have passed `checkBounds`.
 */
export function readKnownMembers(body: Json): KnownMembers {
  const reading: Reading = { warnings: [], blockCount: 0, refused: null };
  const place: Place = { path: [], blockId: undefined, blockDepth: -1 };
  const known = readValue(reading, memberTable(SequenceDocument), body, place);
  return { body: known, warnings: reading.warnings, refused: reading.refused };
}

function readValue(reading: Reading, table: MemberTable, value: Json, place: Place): Json {
  if (reading.refused !== null) return value;
  switch (table.kind) {
    case 'value':
      return value;
    case 'list':
      if (!isJsonArray(value)) return value;
      return value.map((item, index) =>
        readValue(reading, table.item(), item, { ...place, path: [...place.path, index] }),
      );
    case 'object':
      return isJsonObject(value) ? readObject(reading, table, value, place) : value;
    case 'block':
      return isJsonObject(value) ? readBlock(reading, table, value, place) : value;
  }
}

function readBlock(
  reading: Reading,
  table: Extract<MemberTable, { kind: 'block' }>,
  value: JsonObject,
  outer: Place,
): Json {
  const id = member(value, 'id');
  const place: Place = {
    path: outer.path,
    blockId: typeof id === 'string' ? shorten(id) : undefined,
    blockDepth: outer.blockDepth + 1,
  };
  reading.blockCount += 1;
  reading.refused = brokenBound(reading.blockCount, place);
  const type = member(value, 'type');
  const tag = type === 'ab_split' ? 'a_b_split' : type;
  const blockTable = typeof tag === 'string' ? table.byType.get(tag)?.() : undefined;
  if (reading.refused !== null || blockTable?.kind !== 'object') return value;
  const renamed = tag === type ? value : jsonObject([...Object.entries(value), ['type', 'a_b_split']]);
  return readObject(reading, blockTable, renamed, place);
}

function brokenBound(blockCount: number, place: Place): Problem | null {
  const path = formatPath(place.path);
  const subject = place.blockId === undefined ? {} : { block_id: place.blockId };
  if (blockCount > MAX_BLOCKS) {
    return { path, ...subject, rule: 'LIM-3', message: `more than ${MAX_BLOCKS} blocks` };
  }
  if (place.blockDepth > MAX_BLOCK_DEPTH) {
    return {
      path,
      ...subject,
      rule: 'LIM-2',
      message: `blocks are nested more than ${MAX_BLOCK_DEPTH} deep`,
    };
  }
  return null;
}

function readObject(
  reading: Reading,
  table: Extract<MemberTable, { kind: 'object' }>,
  value: JsonObject,
  place: Place,
): JsonObject {
  const kept: [string, Json][] = [];
  for (const [name, child] of Object.entries(value)) {
    const known = table.members.get(name);
    if (known === undefined) warnUnknown(reading, name, table.members.keys(), place);
    else if (child !== null || !known.optional) {
      const path = [...place.path, name];
      kept.push([name, readValue(reading, known.table(), child, { ...place, path })]);
    }
  }
  return jsonObject(kept);
}

function warnUnknown(reading: Reading, name: string, known: Iterable<string>, place: Place): void {
  // One above the bound is enough for the reply to say that there were more, and names cost a comparison each.
  if (reading.warnings.length > MAX_WARNINGS) return;
  reading.warnings.push({
    code: 'unknown_field',
    ...(place.blockId === undefined ? {} : { block_id: place.blockId }),
    path: formatPath([...place.path, name]),
    message: `unknown field '${shorten(name)}' is ignored${didYouMean(name, known)}`,
  });
}
