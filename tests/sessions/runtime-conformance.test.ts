import { describeWorlds } from './describe-worlds.ts';
import { memoryWorlds } from './worlds.ts';

describeWorlds(memoryWorlds);
