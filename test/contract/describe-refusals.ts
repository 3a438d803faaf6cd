import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBackend } from '../api/support/backends.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import { errorMisfits } from './support/documented.ts';
import { createScene, type Scene } from './support/scene.ts';
import type { Refusal } from './tables/refusal.ts';

/** The beginnings of the texts by status (http-api.md 1.5). */
const PREFIX: Readonly<Record<number, RegExp>> = {
  400: /^invalid argument: ./,
  401: /^unauthorized/,
  403: /^forbidden: ./,
  404: /^not found: ./,
  409: /^(already exists|conflict): ./,
  413: /^payload too large: ./,
  422: /^unprocessable entity: ./,
  429: /^rate limit exceeded: ./,
  502: /^bad gateway: ./,
  503: /^unavailable: ./,
};

/** Registers a test for each refusal of a table; all of them together must have changed nothing. */
export function describeRefusals(title: string, refusals: readonly Refusal[]): void {
  describe.each([title])('a refused request %s', () => {
    const backend = useBackend('memory');
    let world: ContractWorld;
    let scene: Scene;
    let before: unknown;
    beforeAll(async () => {
      world = await createContractWorld(backend);
      scene = await createScene(world);
      await world.api.time.pass(2000);
      before = await left();
    });
    afterAll(() => world.api.stop());

    /**
     * All that is there, without an order. Attempts of tasks tell of stale reports, and a command that looks at an instance
     * under a lease leaves a newer epoch and instant behind.
     */
    const left = async (): Promise<object> => {
      const all = JSON.parse(
        JSON.stringify(await world.api.footprint(), (key, value) =>
          ['attempts', 'updatedAt', 'epoch', 'now'].includes(key) ? undefined : value,
        ),
      );
      return Object.fromEntries(
        Object.entries(all).map(([name, rows]) => [
          name,
          Array.isArray(rows) ? rows.map((row) => JSON.stringify(row)).toSorted() : rows,
        ]),
      );
    };

    it.each(refusals.map(([name, status, ...rest]) => [name, status, ...rest] as const))(
      '%s is refused with %i',
      async (_name, status, fragment, request) => {
        const [method, path, body] = request(scene);
        const isRoot = path.startsWith('/webhooks/') && !/^\/webhooks\/(outbox|deliveries)/.test(path);
        const reply = await world.send(
          method,
          isRoot ? path : `/api/v1${path}`,
          body === undefined ? {} : { body },
        );
        expect([reply.status, reply.body?.error]).toEqual([
          status,
          expect.stringMatching(PREFIX[status] ?? /^$/),
        ]);
        expect(reply.body.error).toContain(fragment);
        expect(errorMisfits(reply.body)).toEqual([]);
      },
    );

    it('and none of them has changed anything [API 1.5]', async () => {
      expect(await left()).toEqual(before);
    });
  });
}
