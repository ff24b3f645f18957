// The tools by which a model reads and writes the board, approves, and hands over; and the words that go with them.
// Owns:     the board as it stands within a turn.
// W1. What a tool did is known here, whatever a hook makes of its result. The calls are runs inside the turn, which an engine does not
//     answer from its journal: so a turn that is entered again after a crash does the same again, on the same board.
// W2. Within a turn its own writes are seen at once; others see them when the turn is recorded.
import type { Equipment } from '../chat/index.ts';
import { defineAnyCapability } from '../hooks/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { NestedResult } from '../tool-use/index.ts';
import { defineNestedTool } from '../tool-use/index.ts';
import { clipText } from '../tools/index.ts';
import type { Tool } from '../tools/index.ts';
import type { Artifact, Board } from './board.ts';
import { artifactNameProblem } from './board.ts';
import type { CollaborationState } from './collaboration-state.ts';
import type { ReadyCompletion } from './completion.ts';
import { inWords } from './completion.ts';
import type { Rights } from './contribution.ts';
import { BoardTool, uncounted } from './board-tool.ts';

/** What a turn is equipped for. */
export interface Equipping {
  readonly rights: Rights;
  readonly completion: ReadyCompletion | undefined;
}

/** The board within one turn, and what was done with it. */
class TurnBoard {
  #board: Board;
  readonly #author: string;
  readonly #acts: JsonObject[] = [];

  constructor(board: Board, author: string) {
    this.#board = board;
    this.#author = author;
  }

  get board(): Board {
    return this.#board;
  }

  /** What was done, in the order in which it was done. */
  get acts(): readonly JsonObject[] {
    return this.#acts;
  }

  write(artifact: string, content: string): JsonObject {
    this.#board = this.#board.with(artifact, content, this.#author);
    const version = this.#board.get(artifact)?.version ?? 1;
    this.#acts.push({ type: 'write', artifact, version, content });
    return { artifact, version };
  }

  approve({ name, version }: Artifact, note: string | undefined): JsonObject {
    this.#acts.push({ type: 'approve', artifact: name, version, ...(note !== undefined && { note }) });
    return { approved: name, version };
  }

  handOff(to: string, reason: string): JsonObject {
    this.#acts.push({ type: 'handoff', to, reason });
    return { to, reason };
  }
}

const ended = (value: JsonObject): Promise<NestedResult> => Promise.resolve({ type: 'ended', value });
const there = (board: Board): string => (board.isEmpty ? 'The board is empty.' : `There is: ${board.names.join(', ')}.`);
const missing = (board: Board, artifact: string): JsonObject => ({ error: `There is no artifact "${artifact}". ${there(board)}` });

const named = { type: 'string', description: 'The name of the artifact.' } as const;

const readTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Read,
    description: 'Reads an artifact on the board, as it stands or as it was in an earlier version.',
    input: {
      type: 'object',
      properties: { artifact: named, version: { type: 'integer', minimum: 1, description: 'Left out: as it stands.' } },
      required: ['artifact'],
      additionalProperties: false,
    } as const,
    run: ({ artifact, version }) => {
      const found = turn.board.get(artifact);
      if (found === undefined) return ended(missing(turn.board, artifact));
      const wanted = version === undefined ? found : found.versions.find((each) => each.version === version);
      if (wanted === undefined)
        return ended({ error: `"${artifact}" has ${found.versions.length} versions; there is no version ${version ?? ''}.` });
      const { content, author } = wanted;
      return ended({ artifact, version: wanted.version, ...(author !== undefined && { author }), content });
    },
  });

const writeTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Write,
    description:
      'Puts the next version of an artifact on the board: the whole of it, not only what changed. Approvals of the version before end.',
    input: {
      type: 'object',
      properties: { artifact: named, content: { type: 'string', description: 'The whole content.' } },
      required: ['artifact', 'content'],
      additionalProperties: false,
    } as const,
    run: ({ artifact, content }) => {
      const problem = artifactNameProblem(artifact);
      return ended(problem === undefined ? turn.write(artifact, content) : { error: problem });
    },
  });

const approveTool = (turn: TurnBoard): Tool =>
  defineNestedTool({
    name: BoardTool.Approve,
    description: 'Approves an artifact as it stands. Read it first; where something has to change, say so instead.',
    input: {
      type: 'object',
      properties: { artifact: named, note: { type: 'string', description: 'Why, in a sentence.' } },
      required: ['artifact'],
      additionalProperties: false,
    } as const,
    run: ({ artifact, note }) => {
      const found = turn.board.get(artifact);
      if (found === undefined) return ended(missing(turn.board, artifact));
      return ended(turn.approve(found, note));
    },
  });

const handoffTool = (turn: TurnBoard, others: readonly string[]): Tool =>
  defineNestedTool({
    name: BoardTool.Handoff,
    description: 'Gives the next turn to another collaborator. Then end your turn.',
    input: {
      type: 'object',
      properties: {
        to: { type: 'string', enum: others, description: 'Who is next.' },
        reason: { type: 'string', description: 'What you want of them, in a sentence.' },
      },
      required: ['to', 'reason'],
      additionalProperties: false,
    } as const,
    run: ({ to, reason }) => ended(turn.handOff(to, reason)),
  });

function boardInWords({ board }: CollaborationState): string {
  if (board.isEmpty) return 'The board is empty.';
  const lines = board.artifacts.map(
    ({ name, version, author, content }) =>
      `- ${JSON.stringify(name)}: version ${version}${author === undefined ? '' : ` by ${author}`}, ${content.length} characters`,
  );
  return `On the board:\n${lines.join('\n')}`;
}

/** The words for one turn of one collaborator. */
function instructions(state: CollaborationState, participant: string, { rights, completion }: Equipping): string {
  const fit = state.lastStepResult?.step.fit;
  const approves = rights.approvers.includes(participant);
  return [
    `You work with others on one task: ${clipText(state.task, 4000)}`,
    boardInWords(state),
    `Read artifacts with ${BoardTool.Read}, and write them with ${BoardTool.Write}; nobody else sees work that is not on the board.`,
    ...(completion === undefined ? [] : [inWords(completion)]),
    ...(approves ? [`You are one of those who approve: with ${BoardTool.Approve}, or say what has to change.`] : []),
    ...(fit?.problem === undefined ? [] : [`"${fit.artifact}" does not have its form yet: ${clipText(fit.problem, 1000)}`]),
    'End your turn with a few words to the others about what you did.',
  ].join('\n\n');
}

/** What a collaborator has in its hands in one turn. */
export function equip(state: CollaborationState, participant: string, equipping: Equipping): Equipment {
  const turn = new TurnBoard(state.board, participant);
  const { names, approvers } = equipping.rights;
  const others = names.filter((name) => name !== participant);
  const capability = defineAnyCapability({
    name: 'board',
    description: 'Reads and writes the board, approves, and hands over.',
    tools: [
      readTool(turn),
      writeTool(turn),
      ...(approvers.includes(participant) ? [approveTool(turn)] : []),
      ...(others.length > 0 ? [handoffTool(turn, others)] : []),
    ],
    instructions: instructions(state, participant, equipping),
  });
  return { capability, acts: () => turn.acts, uncounted };
}
