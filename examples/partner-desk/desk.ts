// The agent: what it is told to be, what it can do, and how far it may go.
import type { AgentOptions, InferEvent, Model } from 'stepline';
import { defineContext, createAgent, defineTool } from 'stepline';
import type { Clock } from 'stepline/step-by-step';
import { z } from 'zod';
import type { Directory } from './partners.ts';
import { programs } from './partners.ts';

/** Context of each run. Never stored. */
export interface DeskContext {
  readonly directory: Directory;
}

const searchEntities = defineTool({
  name: 'search_entities',
  description: 'Finds partner companies by name or city, with the leads they have.',
  context: defineContext<DeskContext>(),
  input: z.object({ query: z.string().min(1).describe('A name, a city, or a part of one') }),
  effect: 'pure',
  run: ({ query }, { context }) => ({ found: context.directory.search(query) }),
});

const createProgramLead = defineTool({
  name: 'create_program_lead',
  description: `Makes a company a lead of a program. Programs: ${programs.join(', ')}.`,
  context: defineContext<DeskContext>(),
  input: z.object({ companyId: z.string().describe('The id that search_entities gave'), program: z.string() }),
  // Never run again by itself. Where the process died under it, the directory is asked whether this very call had made its lead.
  effect: 'once',
  run: (wanted, { context, idempotencyKey }) => ({ created: context.directory.createLead(wanted, idempotencyKey) }),
  reconcile: (idempotencyKey, { context }) => {
    const created = context.directory.leadMadeBy(idempotencyKey);
    return created === undefined ? { happened: false } : { happened: true, result: { created } };
  },
});

const deleteProgramLead = defineTool({
  name: 'delete_program_lead',
  description: 'Deletes a lead by its number. A person is asked first.',
  context: defineContext<DeskContext>(),
  input: z.object({ lead: z.number().int().positive() }),
  needsApproval: true,
  // May run again: with the same key the directory deletes nothing more.
  effect: 'idempotent',
  run: ({ lead }, { context, idempotencyKey }) => ({ deleted: context.directory.deleteLead(lead, idempotencyKey) }),
});

const tools = [searchEntities, createProgramLead, deleteProgramLead] as const;

const instructions = [
  'You help the partner team of a company. You find partner companies and manage the leads of partner programs.',
  'Use the tools for every fact; never invent companies or numbers. Search before you create a lead.',
  'When a person rejects a call, accept it and do not try again. Answer in a few short sentences, without tables.',
].join(' ');

function report(problem: unknown, where: string): void {
  process.stderr.write(`${where}: ${String(problem)}\n`);
}

/** Id of the desk that people talk to. */
export const deskId = 'partner-desk';

/** Rules of a desk that has its own. */
export interface DeskRules extends Pick<AgentOptions, 'id' | 'limits' | 'errors'> {
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** Makes the desk. The tour gives it other rules; otherwise a limit makes it sum up what it has. */
export const createDesk = (model: Model, { clock, ...rules }: DeskRules = {}) =>
  createAgent({
    id: deskId,
    version: '1',
    model,
    instructions,
    context: defineContext<DeskContext>(),
    tools,
    limits: { steps: 12, tokens: 60_000, wallMs: 120_000, onLimit: 'finalize' },
    ports: { onProblem: report, ...(clock !== undefined && { clock }) },
    ...rules,
  });

export type Desk = ReturnType<typeof createDesk>;
export type DeskRun = ReturnType<Desk['start']>;
export type DeskEvent = InferEvent<Desk>;
