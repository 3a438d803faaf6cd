/** Tells the requests of a runtime that was killed from those of the one that came after it. */
export interface RuntimeLives {
  /** Names the life that begins last; the runtime carries it with each of its requests. */
  readonly name: () => string;
  /** Carries a request out, but not for the dead: then the answer is null. A new life waits until its beginning is over. */
  carry<T>(life: string, request: () => Promise<T>): Promise<T | null>;
  /**
   * One life ends and another begins. Between the two nothing is asked: what the first had under way is done, and what only it
   * can have done may be told by looking.
   */
  change(kill: () => Promise<unknown>, between: () => Promise<void>): Promise<void>;
}

export function createRuntimeLives(): RuntimeLives {
  let current = 1;
  let isOver = false;
  let begun: Promise<void> = Promise.resolve();
  const underWay = new Set<Promise<unknown>>();
  const name = (): string => `life-${current}`;
  return {
    name,
    async carry(life, request) {
      if (life === name()) await begun;
      else if (isOver) return null;
      const done = request();
      const ended = done.catch(() => undefined).finally(() => underWay.delete(ended));
      underWay.add(ended);
      return done;
    },
    async change(kill, between) {
      let begin = (): void => undefined;
      begun = new Promise((resolve) => {
        begin = resolve;
      });
      current += 1;
      isOver = false;
      await kill();
      isOver = true;
      await Promise.all(underWay);
      await between();
      begin();
    },
  };
}
