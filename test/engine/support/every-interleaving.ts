/** Waits for its turn among the steps of all, then makes the call. */
export type Step = <T>(call: () => Promise<T>) => Promise<T>;

/** Runs these side by side, one step at a time, in an order of the explorer's choice. */
export type Stepped = (actors: readonly ((step: Step) => Promise<unknown>)[]) => Promise<void>;

/**
 * Plays a scene once in every order in which the steps of its actors can come; answers how many there are. The scene has to
 * begin anew each time and calls `stepped` once.
 */
export async function everyInterleaving(scene: (stepped: Stepped) => Promise<void>): Promise<number> {
  /** At each step: which of the waiting actors goes on, and how many were waiting. */
  let path: { readonly choice: number; readonly choices: number }[] = [];
  for (let count = 1; ; count += 1) {
    const taken: typeof path = [];
    const choose = (choices: number): number => {
      const choice = path[taken.length]?.choice ?? 0;
      taken.push({ choice, choices });
      return choice;
    };
    await scene((actors) => playOnce(actors, choose));
    const last = taken.findLastIndex(({ choice, choices }) => choice + 1 < choices);
    const turned = taken[last];
    if (turned === undefined) return count;
    path = [...taken.slice(0, last), { ...turned, choice: turned.choice + 1 }];
  }
}

async function playOnce(
  actors: readonly ((step: Step) => Promise<unknown>)[],
  choose: (choices: number) => number,
): Promise<void> {
  /** By actor: what lets its step begin. */
  const waiting = new Map<number, () => void>();
  let busy = actors.length;
  let settle = (): void => {};
  const rest = (): void => {
    busy -= 1;
    if (busy === 0) settle();
  };
  const ends = actors.map((act, index) => {
    const step: Step = (call) =>
      new Promise<void>((begin) => {
        waiting.set(index, begin);
        rest();
      }).then(call);
    return act(step).finally(rest);
  });
  for (;;) {
    if (busy > 0) {
      await new Promise<void>((resolve) => {
        settle = resolve;
      });
    }
    const ready = [...waiting.keys()].toSorted((a, b) => a - b);
    const next = ready[choose(Math.max(1, ready.length))];
    const begin = next === undefined ? undefined : waiting.get(next);
    if (next === undefined || begin === undefined) break;
    waiting.delete(next);
    busy += 1;
    begin();
  }
  await Promise.all(ends);
}
