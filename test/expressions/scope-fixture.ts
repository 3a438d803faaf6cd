import type { Json, JsonObject } from '../../src/core/json.ts';
import type { Scope } from '../../src/core/expressions/scope.ts';
import fixture from './fixture.json' with { type: 'json' };

const data: JsonObject = fixture.data;

/** 2027-03-04T05:06:07.089Z. */
export const NOW = 1_804_136_767_089;

/** The scope of the fixture that all vectors use, with members replaced. */
export function fixtureScope(changes: Partial<Scope> = {}): Scope {
  return {
    data,
    config: fixture.config,
    outputs: new Map<string, Json>(Object.entries(fixture.outputs)),
    instanceId: fixture.instance_id,
    runtime: () => fixture.runtime,
    state: new Map<string, Json>(Object.entries(fixture.state)),
    items: new Map<string, Json>(Object.entries(fixture.items)),
    now: () => NOW,
    random: () => 0.5,
    uuid: () => '0d6a3c1e-93a4-4b0f-8d52-6e1f0c9b7a55',
    ...changes,
  };
}

/** A scope whose data is the given object and that has nothing else. */
export function dataScope(value: Json, changes: Partial<Scope> = {}): Scope {
  return fixtureScope({ data: value, items: new Map(), ...changes });
}
