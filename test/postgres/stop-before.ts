import type { Store } from '../../src/ports/store/store.ts';

/** Stops before the first call of an operation until it is let through. */
export function stopBefore(
  store: Store,
  name: keyof Store,
): { readonly store: Store; readonly reached: Promise<void>; go(): void } {
  let go = (): void => undefined;
  let arrive = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isFirst = true;
  const stopped = new Proxy(store, {
    get: (target, key) => {
      const method = Reflect.get(target, key);
      if (key !== name) return method;
      return async (...args: unknown[]) => {
        if (isFirst) {
          isFirst = false;
          arrive();
          await gate;
        }
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { store: stopped, reached, go: () => go() };
}
