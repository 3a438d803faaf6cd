import type { JsonObject } from '../../../src/core/json.ts';
import type { Scene } from '../support/scene.ts';

/** One refused request: what it is, its status, a fragment of its text, and the request. */
export type Refusal = readonly [name: string, status: number, fragment: string, request: Request];

export type Request = (scene: Scene) => readonly [method: string, path: string, body?: unknown];

/** A creation whose body fits but for one thing: a member that is gone, or members that are spoilt. */
export const creating =
  (path: string, body: (scene: Scene) => JsonObject) =>
  (spoil: JsonObject | string): Request =>
  (scene) => {
    const good = body(scene);
    const spoilt =
      typeof spoil === 'string'
        ? Object.fromEntries(Object.entries(good).filter(([name]) => name !== spoil))
        : { ...good, ...spoil };
    return ['POST', path, spoilt];
  };

export const at = (method: string, path: (scene: Scene) => string, body?: JsonObject): Request => {
  return (scene) => [method, path(scene), body];
};
