import { describe } from 'vitest';
import { describeCatalog } from './catalog.ts';
import { describeChildren } from './children.ts';
import { describeClaims } from './claims.ts';
import { describeCommits } from './commits.ts';
import { describeConcurrencyKeys } from './concurrency-keys.ts';
import { describeContextPatches } from './context-patches.ts';
import { describeFences } from './fences.ts';
import { describeInboxOrder } from './inbox-order.ts';
import { describeInstanceReads } from './instance-reads.ts';
import { describeIntents } from './intents.ts';
import { describeLeases } from './leases.ts';
import { describeRecovery } from './recovery.ts';
import { describeRows } from './rows-and-values.ts';
import { describeSettleAndWake } from './settle-and-wake.ts';
import { describeStarts } from './starts.ts';
import type { MakeStore } from './store-under-test.ts';
import { describeTaskReads } from './task-reads.ts';
import { describeTasks } from './tasks.ts';

/** What every store must do. An adapter passes all of it or is none. */
export function describeStoreContract(name: string, makeStore: MakeStore): void {
  describe(`store contract over ${name}`, () => {
    describe('claims', () => describeClaims(makeStore));
    describe('concurrency keys', () => describeConcurrencyKeys(makeStore));
    describe('leases', () => describeLeases(makeStore));
    describe('recovery', () => describeRecovery(makeStore));
    describe('fences', () => describeFences(makeStore));
    describe('commits', () => describeCommits(makeStore));
    describe('intents', () => describeIntents(makeStore));
    describe('settle and wake', () => describeSettleAndWake(makeStore));
    describe('inbox', () => describeInboxOrder(makeStore));
    describe('context patches', () => describeContextPatches(makeStore));
    describe('starts', () => describeStarts(makeStore));
    describe('rows and values', () => describeRows(makeStore));
    describe('children', () => describeChildren(makeStore));
    describe('worker tasks', () => describeTasks(makeStore));
    describe('reads of tasks', () => describeTaskReads(makeStore));
    describe('reads of instances', () => describeInstanceReads(makeStore));
    describe('catalog', () => describeCatalog(makeStore));
  });
}
