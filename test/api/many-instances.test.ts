import { describeManyInstances } from './describe-many-instances.ts';

describeManyInstances('memory');
