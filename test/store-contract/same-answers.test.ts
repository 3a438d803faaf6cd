import { createPGliteStoreUnderTest } from '../postgres/store-database.ts';
import { createMemoryStoreUnderTest } from './memory-store-under-test.ts';
import { describeSameAnswers } from './same-answers.ts';

describeSameAnswers(
  'memory and PGlite',
  { left: createMemoryStoreUnderTest, right: createPGliteStoreUnderTest },
  { runs: 25, actsMax: 40 },
);
