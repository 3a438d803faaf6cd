import { createMemoryStoreUnderTest } from '../store-contract/memory-store-under-test.ts';
import { describeLargeLists } from './describe-large-lists.ts';

describeLargeLists(createMemoryStoreUnderTest);
