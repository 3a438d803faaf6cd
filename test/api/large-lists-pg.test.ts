import { createPgStoreUnderTest } from '../postgres/store-database.ts';
import { describeLargeLists } from './describe-large-lists.ts';

describeLargeLists(createPgStoreUnderTest);
