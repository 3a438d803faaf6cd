import type { Json, JsonObject } from '../json.ts';

/**
 * What a commit does beyond the rows of its own instance, all or nothing with them ([H-5]): signals, instances that are
 * started through a trigger, and waits for events. What they rely on is looked at once more under the locks; when it is
 * not so any more the commit is refused, and the turn reads again.
 */
export interface Outside {
  readonly signals: readonly OutgoingSignal[];
  readonly emits: readonly Emit[];
  readonly waits: readonly NewWait[];
  /** Waits that end unsatisfied: cancel, timeout, skip, reset, or a person opened the gate ([WAIT-6]). */
  readonly waitsClosed: readonly string[];
  /** Events that a step without a gate takes at once ([WAIT-7]). */
  readonly takes: readonly TakenEvents[];
}

/** Needs a target of the same tenant that has not ended; a repeat of a `signalId` is no second signal. */
export interface OutgoingSignal {
  readonly instanceId: string;
  readonly signalId: string;
  readonly signalType: string;
  readonly payload: Json;
}

/** A new instance of the same tenant ([EMIT-1]); needs its sequence, and that nobody has used the key yet ([EMIT-2]). */
export interface Emit {
  readonly instanceId: string;
  readonly runId: string;
  readonly namespace: string;
  readonly sequenceId: string;
  readonly sequenceName: string;
  readonly data: Json;
  readonly metadata: JsonObject;
  readonly dedupe: EmitKey | null;
}

export interface EmitKey {
  /** Id of the emitting instance, or the empty text for the whole tenant. */
  readonly scope: string;
  /** A digest, so that any text may be a key. */
  readonly key: string;
}

export type Join = 'all' | 'any' | 'count';

/** What a wait asks for ([WAIT-3]). */
export interface WantedEvents {
  /** Without repeats. */
  readonly names: readonly string[];
  readonly correlationKey: string;
  readonly join: Join;
  /** Matches that satisfy it: `all` as many as names, `any` 1. */
  readonly needed: number;
}

export interface NewWait extends WantedEvents {
  readonly id: string;
  readonly blockId: string;
  readonly iteration: string;
}

/** A wait that is over as soon as it is there. Needs all the events to be pending still. */
export interface TakenEvents extends NewWait {
  /** In the order of matching. */
  readonly eventIds: readonly string[];
}

/** Outside as it gathers for the next commit. */
export interface GatheredOutside {
  signals: OutgoingSignal[];
  emits: Emit[];
  waits: NewWait[];
  waitsClosed: string[];
  takes: TakenEvents[];
}

export function nothingOutside(): GatheredOutside {
  return { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };
}

/** What a step reaches: it is committed before anything else is done, since it may be refused or concern this run. */
export function reachesOut({ signals, emits, takes }: Outside): boolean {
  return signals.length + emits.length + takes.length > 0;
}

/** True when an event of this name counts for a wait that has matched these names so far. */
export function wantsEvent(wanted: WantedEvents, matchedNames: readonly string[], name: string): boolean {
  if (matchedNames.length >= wanted.needed || !wanted.names.includes(name)) return false;
  return wanted.join !== 'all' || !matchedNames.includes(name);
}

/** The events of a list, oldest first, that a fresh wait would match ([WAIT-2], [WAIT-3]). */
export function matchEvents<E extends { readonly eventName: string }>(
  wanted: WantedEvents,
  pending: readonly E[],
): readonly E[] {
  const matched: E[] = [];
  for (const event of pending) {
    const names = matched.map(({ eventName }) => eventName);
    if (wantsEvent(wanted, names, event.eventName)) matched.push(event);
  }
  return matched;
}
