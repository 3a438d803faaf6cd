import { describeStoreContract } from './describe-store-contract.ts';
import { createMemoryStoreUnderTest } from './memory-store-under-test.ts';

describeStoreContract('memory', createMemoryStoreUnderTest);
