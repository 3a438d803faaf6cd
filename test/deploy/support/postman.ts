import type { SqsEvent } from '../../support/event-source.ts';

/** What may happen to a batch on its way from the queue to the function. */
export type Fate = 'once' | 'twice' | 'lost' | 'late';

export interface Postman {
  /** Stands between a queue and a function. A lost batch counts as answered. */
  readonly bring: (event: SqsEvent) => Promise<unknown>;
  /** Late batches that have not been brought. */
  bringLate(): Promise<void>;
  readonly fates: Readonly<Record<Fate, number>>;
}

/** Fates in turn, so that each comes up early and often. */
const ORDER: readonly Fate[] = ['late', 'twice', 'lost', 'once', 'late', 'twice', 'once'];

export function createPostman(invoke: (event: SqsEvent) => Promise<unknown>): Postman {
  const fates: Record<Fate, number> = { once: 0, twice: 0, lost: 0, late: 0 };
  const late: SqsEvent[] = [];
  let count = 0;
  return {
    fates,
    async bring(event) {
      const fate = ORDER[count % ORDER.length] ?? 'once';
      count += 1;
      fates[fate] += 1;
      switch (fate) {
        case 'once':
          return invoke(event);
        case 'twice':
          return (await Promise.all([invoke(event), invoke(event)]))[0];
        case 'lost':
          return { batchItemFailures: [] };
        case 'late':
          late.push(event);
          return { batchItemFailures: [] };
      }
    },
    async bringLate() {
      for (const event of late.splice(0)) await invoke(event);
    },
  };
}
