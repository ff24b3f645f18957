import type { EventHeader } from '../events/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { HookChange } from './hook-change.ts';
import type { HookPoint } from './hook-point.ts';

/** Facts about a change that a hook made. */
export interface HookAppliedFacts {
  readonly hook: string;
  readonly point: HookPoint;
  readonly changed: readonly HookChange[];
  readonly toolCallId?: string | undefined;
}

/** A hook has changed something. Its votes are in ContinuationEvaluated. */
export class HookApplied extends OrchestratorEvent {
  readonly type = 'HookApplied';
  readonly hook: string;
  readonly point: HookPoint;
  readonly changed: readonly HookChange[];
  declare readonly toolCallId?: string;

  constructor(header: EventHeader, orchestrator: string, facts: HookAppliedFacts) {
    super(header, orchestrator);
    this.hook = facts.hook;
    this.point = facts.point;
    this.changed = facts.changed;
    if (facts.toolCallId !== undefined) this.toolCallId = facts.toolCallId;
  }
}

/** Facts that a hook reports. */
export interface ReportFacts {
  readonly hook: string;
  readonly point: HookPoint;
  readonly message: string;
  readonly data: JsonObject;
}

/** A report by a hook on its work, such as a summary it made or a critic's finding. */
export class HookReported extends OrchestratorEvent {
  readonly type = 'HookReported';
  readonly hook: string;
  readonly point: HookPoint;
  readonly message: string;
  readonly data: JsonObject;

  constructor(header: EventHeader, orchestrator: string, facts: ReportFacts) {
    super(header, orchestrator);
    this.hook = facts.hook;
    this.point = facts.point;
    this.message = facts.message;
    this.data = facts.data;
  }
}

/** Facts about a blocked call. */
export interface BlockFacts {
  readonly tool: string;
  readonly toolCallId: string;
  readonly args: Json;
  readonly hook: string;
  readonly reason: string;
}

/** A hook blocked a call or its result. */
export class ToolCallBlocked extends OrchestratorEvent {
  readonly type = 'ToolCallBlocked';
  readonly tool: string;
  readonly toolCallId: string;
  readonly args: Json;
  readonly hook: string;
  readonly reason: string;

  constructor(header: EventHeader, orchestrator: string, facts: BlockFacts) {
    super(header, orchestrator);
    this.tool = facts.tool;
    this.toolCallId = facts.toolCallId;
    this.args = facts.args;
    this.hook = facts.hook;
    this.reason = facts.reason;
  }
}
