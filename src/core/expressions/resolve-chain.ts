import { canonicalJson, type Json } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { applyFilter } from './filters.ts';
import type { Fault } from './language-error.ts';
import { isSpent, RESOLVED_BYTES_MAX, spend, TEXT_BYTES_MAX, VALUE_LEVELS_MAX } from './limits.ts';
import type { Evaluation } from './paths.ts';
import { type Found, readTarget } from './read-target.ts';
import {
  type Chain,
  type FilterSegment,
  type Reading,
  type Segment,
  UNKNOWN_FUNCTION,
} from './template-syntax.ts';
import { canonicalSize, lengthOf, textSize } from './values.ts';

/** How far a chain has been read, and in the end what came out of it and where that came from. */
export interface Followed {
  readonly value: Json;
  /** The fallback part is over, only filters count from here on. */
  readonly settled: boolean;
  /**
   * Index of the segment that gave the value, 0 for the source. While none has: of the first path that was null, or -1
   * when all were missing.
   */
  readonly from: number;
  /** That segment counts as a literal ([CHAIN-5]), or is a `default` that was needed. */
  readonly literal: boolean;
}

/**
 * The value of a chain ([CHAIN-2] to [CHAIN-4]): the first path that is neither null nor missing or the first literal,
 * then the filters. A filter ends the fallback part, whatever was found.
 */
export function resolveChain(chain: Chain, evaluation: Evaluation): Result<Json, Fault> {
  const followed = followChain(chain, evaluation);
  return followed.ok ? ok(followed.value.value) : followed;
}

/** The same with where the value came from, for those who explain it. */
export function followChain(chain: Chain, evaluation: Evaluation): Result<Followed, Fault> {
  const source = readSource(chain, evaluation);
  if (!source.ok) return source;
  let progress = source.value;
  for (const [index, segment] of chain.segments.entries()) {
    const next = follow(segment, index + 1, progress, evaluation);
    if (!next.ok) return next;
    progress = next.value;
  }
  return isSpent(evaluation.meter)
    ? err({ message: 'the templates exceed the limit of work' })
    : ok(progress);
}

const NOTHING: Followed = { value: null, settled: false, from: -1, literal: false };

function readSource(chain: Chain, evaluation: Evaluation): Result<Followed, Fault> {
  const found = read(chain.source, evaluation);
  switch (found.kind) {
    case 'fault':
      return err(found.fault);
    case 'no_root':
      return err(chain.unknownRoot);
    case 'value':
      return ok(passOver(found.value, 0, NOTHING));
  }
}

function follow(
  segment: Segment,
  from: number,
  progress: Followed,
  evaluation: Evaluation,
): Result<Followed, Fault> {
  if (segment.kind === 'filter') return filtered(segment, from, progress, evaluation);
  if (progress.settled) return ok(progress);
  if (segment.kind === 'literal') return ok({ value: segment.value, settled: true, from, literal: true });
  const found = read(segment, evaluation);
  switch (found.kind) {
    case 'fault':
      return err(found.fault);
    case 'no_root':
      return ok({ value: segment.literal, settled: true, from, literal: true });
    case 'value':
      return ok(passOver(found.value, from, progress));
  }
}

/** A path that is null or missing leaves the search open. */
function passOver(value: Json | undefined, from: number, before: Followed): Followed {
  if (value === undefined || (value === null && before.from >= 0)) return before;
  return { value, settled: value !== null, from, literal: false };
}

function read(reading: Reading, evaluation: Evaluation): Found {
  const found = readTarget(reading.target, evaluation);
  if (found.kind !== 'value') return found;
  const value = found.value ?? null;
  switch (reading.via) {
    case 'value':
      return found;
    case 'len':
      return { kind: 'value', value: lengthOf(value, evaluation.meter) };
    case 'json': {
      const size = canonicalSize(value, RESOLVED_BYTES_MAX, VALUE_LEVELS_MAX);
      spend(evaluation.meter, size ?? RESOLVED_BYTES_MAX);
      if (size !== undefined) return { kind: 'value', value: canonicalJson(value) };
      return fault(`json() of more than ${RESOLVED_BYTES_MAX} bytes`, reading.position);
    }
    case 'unknown':
      return fault(UNKNOWN_FUNCTION, reading.position);
  }
}

function fault(message: string, position: number): Found {
  return { kind: 'fault', fault: { message, position } };
}

function filtered(
  { filter, position }: FilterSegment,
  from: number,
  before: Followed,
  evaluation: Evaluation,
): Result<Followed, Fault> {
  const { meter } = evaluation;
  const { value } = before;
  const work = typeof value === 'string' ? value.length : 1;
  if (!spend(meter, work)) return err({ message: 'the templates exceed the limit of work', position });
  const result = applyFilter(filter, value, evaluation);
  if (!result.ok) return err({ message: `filter "${filter.name}" ${result.error}`, position });
  const size = textSize(result.value, TEXT_BYTES_MAX);
  spend(meter, size ?? TEXT_BYTES_MAX);
  if (size !== undefined) {
    const replaced = filter.name === 'default' && result.value !== value;
    const origin = replaced ? { from, literal: true } : { from: before.from, literal: before.literal };
    return ok({ value: result.value, settled: true, ...origin });
  }
  return err({ message: `filter "${filter.name}" gives more than ${TEXT_BYTES_MAX} bytes`, position });
}
