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

/** How far a chain has been read. `settled`: the fallback part is over, only filters count from here on. */
interface Progress {
  readonly value: Json;
  readonly settled: boolean;
}

/**
 * The value of a chain ([CHAIN-2] to [CHAIN-4]): the first path that is neither null nor missing or the first literal,
 * then the filters. A filter ends the fallback part, whatever was found.
 */
export function resolveChain(chain: Chain, evaluation: Evaluation): Result<Json, Fault> {
  const source = readSource(chain, evaluation);
  if (!source.ok) return source;
  let progress: Progress = source.value;
  for (const segment of chain.segments) {
    const next = follow(segment, progress, evaluation);
    if (!next.ok) return next;
    progress = next.value;
  }
  if (isSpent(evaluation.meter)) return err({ message: 'the templates exceed the limit of work' });
  return ok(progress.value);
}

function readSource(chain: Chain, evaluation: Evaluation): Result<Progress, Fault> {
  const found = read(chain.source, evaluation);
  switch (found.kind) {
    case 'fault':
      return err(found.fault);
    case 'no_root':
      return err(chain.unknownRoot);
    case 'value':
      return ok(passOver(found.value));
  }
}

function follow(segment: Segment, progress: Progress, evaluation: Evaluation): Result<Progress, Fault> {
  if (segment.kind === 'filter') return filtered(segment, progress.value, evaluation);
  if (progress.settled) return ok(progress);
  if (segment.kind === 'literal') return ok({ value: segment.value, settled: true });
  const found = read(segment, evaluation);
  switch (found.kind) {
    case 'fault':
      return err(found.fault);
    case 'no_root':
      return ok({ value: segment.literal, settled: true });
    case 'value':
      return ok(passOver(found.value));
  }
}

/** A path that is null or missing leaves the search open. */
function passOver(value: Json | undefined): Progress {
  return { value: value ?? null, settled: value !== undefined && value !== null };
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
  value: Json,
  evaluation: Evaluation,
): Result<Progress, Fault> {
  const { meter } = evaluation;
  const work = typeof value === 'string' ? value.length : 1;
  if (!spend(meter, work)) return err({ message: 'the templates exceed the limit of work', position });
  const result = applyFilter(filter, value, evaluation);
  if (!result.ok) return err({ message: `filter "${filter.name}" ${result.error}`, position });
  const size = textSize(result.value, TEXT_BYTES_MAX);
  spend(meter, size ?? TEXT_BYTES_MAX);
  if (size !== undefined) return ok({ value: result.value, settled: true });
  return err({ message: `filter "${filter.name}" gives more than ${TEXT_BYTES_MAX} bytes`, position });
}
