import { describeStoreContract } from '../store-contract/describe-store-contract.ts';
import { createPgStoreUnderTest } from './store-database.ts';

describeStoreContract('PostgreSQL', createPgStoreUnderTest);
