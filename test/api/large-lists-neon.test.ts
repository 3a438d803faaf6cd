import { afterAll, beforeAll } from 'vitest';
import { createNeonStoreUnderTest } from '../postgres/store-database.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { describeLargeLists } from './describe-large-lists.ts';

let neonLocal: NeonLocal | undefined;
beforeAll(async () => {
  neonLocal = await startNeonLocal();
});
afterAll(() => neonLocal?.close());

describeLargeLists(createNeonStoreUnderTest, () => neonLocal?.answerBytes() ?? 0);
