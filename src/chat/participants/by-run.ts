// Participants whose turn is a run of its own: agents, and models with tools.
import type { Capability } from '../../hooks/index.ts';
import type { Callback } from '../../lib/index.ts';
import type { ToolUseOrchestrator } from '../../tool-use/index.ts';
import type { Participant, ParticipantInfo, Table } from '../participant.ts';
import { createParticipant } from '../participant.ts';
import { speakByRun } from '../run-inside.ts';

interface RunParts {
  /** Creates the orchestrator, with the equipment of a turn if there is any. */
  readonly create: (equipment: Capability | undefined, table: Table) => ToolUseOrchestrator;
  /** Maps the context of the conversation. @default the same context */
  readonly toContext?: Callback<[outer: unknown], unknown> | undefined;
  /** True if costs are to be known even if the conversation does not ask for them. */
  readonly watchesCost?: boolean;
  readonly configuration: (own: ToolUseOrchestrator) => { readonly agent?: string };
}

/** Creates a participant whose turns are runs. */
export function createRunParticipant(info: ParticipantInfo, { create, toContext, configuration, ...parts }: RunParts): Participant {
  return createParticipant(info, (table) => {
    const { name, kind } = info;
    const { price, sample } = table;
    const own = create(sample(name), table);
    const watchesCost = table.watchesCost || parts.watchesCost === true;
    return {
      needsContext: own.needsContext && toContext === undefined,
      configuration: { ...configuration(own), fingerprint: own.fingerprint },
      toolNames: own.toolNames,
      checkArgs: (toolName, args, inside) => own.checkArgs(toolName, args, inside),
      speak: (turn) => {
        const { context } = turn.scope;
        return speakByRun(turn, turn.equipment === undefined ? own : create(turn.equipment, table), {
          name,
          kind,
          price,
          watchesCost,
          context: toContext === undefined ? context : toContext(context),
        });
      },
    };
  });
}
