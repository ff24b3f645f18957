import { describeWorlds } from './describe-worlds.ts';
import { sqliteProcessWorld } from './process-worlds.ts';
import { sqliteWorlds } from './worlds.ts';

describeWorlds([...sqliteWorlds, sqliteProcessWorld]);
