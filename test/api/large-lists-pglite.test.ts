import { createPGliteStoreUnderTest } from '../postgres/store-database.ts';
import { describeLargeLists } from './describe-large-lists.ts';

describeLargeLists(createPGliteStoreUnderTest);
