// The tools by which a model reads and writes the board, approves, and hands over; and the words that go with them.
// Owns:     the board as it stands within a turn.
// W1. The changes of a tool are known here, whatever a hook makes of its result. The calls are runs inside the turn, which an engine
//     does not answer from its journal: a turn that is entered again after a crash does the same again, on the same board.
// W2. Within a turn its own writes are seen at once; others see them when the turn is recorded.
import type { Equipment } from '../chat/index.ts';
import { defineAnyCapability } from '../hooks/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { present } from '../lib/index.ts';
import type { NestedResult } from '../tool-use/index.ts';
import { defineNestedTool } from '../tool-use/index.ts';
import { clipText } from '../tools/index.ts';
import type { Tool } from '../tools/index.ts';
import type { Board } from './board.ts';
import { findArtifactNameProblem } from './board.ts';
import { CollaborationState } from './collaboration-state.ts';
import type { PreparedCompletion } from './completion.ts';
import { describeCompletion } from './completion.ts';
import type { Rights } from './contribution.ts';
import { BoardTool, completionOnly } from './board-tool.ts';

/** Facts that a turn is equipped by. */
export interface EquipOptions {
  readonly rights: Rights;
  readonly completion: PreparedCompletion | undefined;
}

/** The board within one turn, and the changes made so far. */
interface TurnBoard {
  board: Board;
  readonly author: string;
  readonly changes: JsonObject[];
}

const end = (value: JsonObject): Promise<NestedResult> => Promise.resolve({ type: 'ended', value });

/** Records a change, and ends the call with what the model reads of it. */
function record({ changes }: TurnBoard, change: JsonObject, value: JsonObject): Promise<NestedResult> {
  changes.push(change);
  return end(value);
}

function reportMissing({ board }: TurnBoard, artifact: string): Promise<NestedResult> {
  const list = board.isEmpty ? 'The board is empty.' : `There is: ${board.names.join(', ')}.`;
  return end({ error: `There is no artifact "${artifact}". ${list}` });
}

const toInput = <const Properties extends JsonObject, const Required extends readonly (keyof Properties & string)[]>(
  properties: Properties,
  required: Required,
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

const artifactName = { type: 'string', description: 'The name of the artifact.' } as const;

const createReadTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Read,
    description: 'Reads an artifact on the board, as it stands or as it was in an earlier version.',
    input: toInput({ artifact: artifactName, version: { type: 'integer', minimum: 1, description: 'Left out: as it stands.' } }, [
      'artifact',
    ]),
    run: ({ artifact, version }) => {
      const found = turn.board.get(artifact);
      if (found === undefined) return reportMissing(turn, artifact);
      const wanted = version === undefined ? found : found.versions.find((each) => each.version === version);
      if (wanted === undefined)
        return end({ error: `"${artifact}" has ${found.versions.length} versions; there is no version ${version ?? ''}.` });
      return end(present({ artifact, version: wanted.version, author: wanted.author, content: wanted.content }));
    },
  });

const createWriteTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Write,
    description:
      'Puts the next version of an artifact on the board: the whole of it, not only what changed. Approvals of the version before end.',
    input: toInput({ artifact: artifactName, content: { type: 'string', description: 'The whole content.' } }, ['artifact', 'content']),
    run: ({ artifact, content }) => {
      const problem = findArtifactNameProblem(artifact);
      if (problem !== undefined) return end({ error: problem });
      turn.board = turn.board.with(artifact, content, turn.author);
      const version = turn.board.get(artifact)?.version ?? 1;
      return record(turn, { type: 'write', artifact, version, content }, { artifact, version });
    },
  });

const createApproveTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Approve,
    description: 'Approves an artifact as it stands. Read it first; where something has to change, say so instead.',
    input: toInput({ artifact: artifactName, note: { type: 'string', description: 'Why, in a sentence.' } }, ['artifact']),
    run: ({ artifact, note }) => {
      const version = turn.board.get(artifact)?.version;
      if (version === undefined) return reportMissing(turn, artifact);
      return record(turn, present({ type: 'approve', artifact, version, note }), { approved: artifact, version });
    },
  });

const createHandoffTool = (turn: TurnBoard, others: readonly string[]): Tool =>
  defineNestedTool({
    name: BoardTool.Handoff,
    description: 'Gives the next turn to another collaborator. Then end your turn.',
    input: toInput(
      {
        to: { type: 'string', enum: others, description: 'Who is next.' },
        reason: { type: 'string', description: 'What you want of them, in a sentence.' },
      },
      ['to', 'reason'],
    ),
    run: ({ to, reason }) => record(turn, { type: 'handoff', to, reason }, { to, reason }),
  });

function describeBoard({ board }: CollaborationState): string {
  if (board.isEmpty) return 'The board is empty.';
  const lines = board.artifacts.map(
    ({ name, version, author, content }) =>
      `- ${JSON.stringify(name)}: version ${version}${author === undefined ? '' : ` by ${author}`}, ${content.length} characters`,
  );
  return `On the board:\n${lines.join('\n')}`;
}

/** Writes the instructions for one turn of one collaborator. */
function writeInstructions(state: CollaborationState, participant: string, { rights, completion }: EquipOptions): string {
  const fit = state.lastStepResult?.step.fit;
  const approves = rights.approvers.includes(participant);
  return [
    `You work with others on one task: ${clipText(state.task, 4000)}`,
    describeBoard(state),
    `Read artifacts with ${BoardTool.Read}, and write them with ${BoardTool.Write}; nobody else sees work that is not on the board.`,
    ...(completion === undefined ? [] : [describeCompletion(completion)]),
    ...(approves ? [`You are one of those who approve: with ${BoardTool.Approve}, or say what has to change.`] : []),
    ...(fit?.problem === undefined ? [] : [`"${fit.artifact}" does not have its form yet: ${clipText(fit.problem, 1000)}`]),
    'End your turn with a few words to the others about what you did.',
  ].join('\n\n');
}

/** Equips a collaborator for one turn. */
export function equip(state: CollaborationState, participant: string, equipping: EquipOptions): Equipment {
  const write = (at: CollaborationState): string => writeInstructions(at, participant, equipping);
  const turn: TurnBoard = { board: state.board, author: participant, changes: [] };
  const { names, approvers } = equipping.rights;
  const others = names.filter((name) => name !== participant);
  const capability = defineAnyCapability({
    name: 'board',
    description: 'Reads and writes the board, approves, and hands over.',
    tools: [
      createReadTool(turn),
      createWriteTool(turn),
      ...(approvers.includes(participant) ? [createApproveTool(turn)] : []),
      ...(others.length > 0 ? [createHandoffTool(turn, others)] : []),
    ],
    // A function, and in fingerprints the text at the start: so the definition of a collaborator is the same in every turn.
    instructions: Object.assign(() => write(state), { toString: () => write(CollaborationState.empty()) }),
  });
  return { capability, changes: () => turn.changes, completionOnly };
}
