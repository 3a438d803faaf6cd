import type { SqsEvent } from '../../support/event-source.ts';

/** What may happen to a message on its way from the queue to the function. */
export type Fate = 'once' | 'twice' | 'lost' | 'late';

export interface Postman {
  /** Stands between a queue and a function. A lost or late message counts as answered. */
  readonly bring: (event: SqsEvent) => Promise<unknown>;
  /** The late messages, all at once. */
  bringLate(): Promise<void>;
  readonly fates: Readonly<Record<Fate, number>>;
}

type Invoke = (event: SqsEvent) => Promise<unknown>;

/** Fates in turn, so that each comes up early and often. */
const ORDER: readonly Fate[] = ['late', 'twice', 'lost', 'once', 'late', 'twice', 'once'];

export function createPostman(invoke: Invoke): Postman {
  const fates: Record<Fate, number> = { once: 0, twice: 0, lost: 0, late: 0 };
  const late: SqsEvent['Records'][number][] = [];
  let count = 0;
  const fateOfNext = (): Fate => {
    const fate = ORDER[count % ORDER.length] ?? 'once';
    count += 1;
    fates[fate] += 1;
    return fate;
  };
  return {
    fates,
    async bring({ Records }) {
      const fated = Records.map((record) => ({ record, fate: fateOfNext() }));
      const of = (...wanted: readonly Fate[]) =>
        fated.flatMap(({ record, fate }) => (wanted.includes(fate) ? [record] : []));
      late.push(...of('late'));
      const [answer] = await Promise.all([
        deliver(invoke, of('once', 'twice')),
        deliver(invoke, of('twice')),
      ]);
      return answer;
    },
    async bringLate() {
      await deliver(invoke, late.splice(0));
    },
  };
}

async function deliver(invoke: Invoke, records: SqsEvent['Records']): Promise<unknown> {
  return records.length === 0 ? { batchItemFailures: [] } : invoke({ Records: records });
}
