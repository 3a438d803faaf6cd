import { describeStoreContract } from '../store-contract/describe-store-contract.ts';
import { createPGliteStoreUnderTest } from './store-database.ts';

describeStoreContract('PGlite', createPGliteStoreUnderTest);
