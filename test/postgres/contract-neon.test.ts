import { afterAll, beforeAll } from 'vitest';
import { describeStoreContract } from '../store-contract/describe-store-contract.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createNeonStoreUnderTest } from './store-database.ts';

let neonLocal: NeonLocal | undefined;
beforeAll(async () => {
  neonLocal = await startNeonLocal();
});
afterAll(() => neonLocal?.close());

describeStoreContract('Neon over HTTP', createNeonStoreUnderTest);
