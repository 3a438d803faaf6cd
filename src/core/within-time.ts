/**
 * What `work` answers, or a rejection when that takes longer than `limitMs`; `giveUp` is called then, to end what is under way.
 * What comes of the work after that is ignored.
 *
 * @param after Calls back once after so many ms, and answers what cancels it (ports/system.ts).
 */
export async function withinTime<T>(
  after: (delayMs: number, callback: () => void) => () => void,
  limitMs: number,
  work: Promise<T>,
  giveUp: () => void = () => undefined,
): Promise<T> {
  let cancel = (): void => undefined;
  const over = new Promise<never>((_resolve, reject) => {
    cancel = after(limitMs, () => {
      reject(new Error(`there was no answer within ${limitMs} ms`));
      giveUp();
    });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    cancel();
  }
}
