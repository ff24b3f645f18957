// The offline script: reads a conversation as a model would, and answers with calls and words. It is not a model.
import type { Json, Message, ToolResult } from 'stepline';
import type { ModelRequest } from 'stepline/inference';
import type { ScriptedAnswer, ScriptedToolCall } from 'stepline/testing';
import type { Found } from './partners.ts';
import type { Wish } from './sentences.ts';
import { examples, readSentence } from './sentences.ts';
import { isFailed, foundIn, inWords, toReport, wasLost } from './wording.ts';

/** Number of times that the script retries a failing search. */
const mostTries = 5;

interface ScriptedTurn {
  readonly said: string;
  /** Results of the calls since then, oldest first. */
  readonly results: readonly ToolResult[];
  /** True if a limit was reached and nothing can be called any more. */
  readonly mustEnd: boolean;
  readonly nextCallId: string;
}

interface Reply {
  readonly text: string;
  readonly call?: { readonly name: string; readonly args: Json };
}

const helpText = `I can look for partners and manage program leads. Try one of these:\n${examples.map((text) => `  - ${text}`).join('\n')}`;
const unknownText = `I am a script, and that is no sentence I know. These I understand:\n${examples.map((text) => `  - ${text}`).join('\n')}`;

function readTurn({ messages }: ModelRequest): ScriptedTurn {
  // At a limit the last message is a request to sum up; the question stands before it.
  const mustEnd = messages.at(-1)?.metadata['purpose'] === 'finalize';
  const asked = mustEnd ? messages.slice(0, -1) : messages;
  const at = asked.findLastIndex((message) => message.isUser());
  const calls = messages.reduce((count, { toolCalls }) => count + toolCalls.length, 0);
  return {
    said: asked[at]?.text ?? '',
    // What never happened is called again.
    results: asked
      .slice(at + 1)
      .flatMap((message) => message.toolResults)
      .filter((result) => !wasLost(result)),
    mustEnd,
    nextCallId: `call-${calls + 1}`,
  };
}

const search = (query: string, text: string): Reply => ({ text, call: { name: 'search_entities', args: { query } } });

function afterSearch(query: string, results: readonly ToolResult[]): Reply | undefined {
  const last = results.findLast(({ toolName }) => toolName === 'search_entities');
  if (last === undefined) return search(query, `I look for ${query}.`);
  if (!isFailed(last)) return undefined;
  const tries = results.filter(isFailed).length;
  return tries < mostTries
    ? search(query, 'The search failed; I try again.')
    : { text: `I give up after ${tries} tries. ${inWords(last)}` };
}

type WithCompany = Extract<Wish, { readonly company: string }>;

/** The one company that is meant, or what to say before that is known. */
function findCompany({ company }: WithCompany, results: readonly ToolResult[]): Found | Reply {
  const searching = afterSearch(company, results);
  if (searching !== undefined) return searching;
  const companies = results.flatMap(foundIn);
  const [only, ...more] = companies;
  if (only === undefined) return { text: `I know no partner called ${company}, so I did nothing.` };
  return more.length === 0
    ? only
    : { text: `Which one do you mean: ${companies.map(({ name }) => name).join(' or ')}? I did nothing yet.` };
}

function createLead(wish: Extract<Wish, { readonly type: 'create' }>, results: readonly ToolResult[]): Reply {
  const company = findCompany(wish, results);
  if ('text' in company) return company;
  const args = { companyId: company.id, program: wish.program };
  return { text: `I create the lead for ${company.name}.`, call: { name: 'create_program_lead', args } };
}

function replyToDelete(wish: Extract<Wish, { readonly type: 'delete-of' }>, results: readonly ToolResult[]): Reply {
  const company = findCompany(wish, results);
  if ('text' in company) return company;
  const [only, ...more] = company.leads;
  if (only === undefined) return { text: `${company.name} has no lead.` };
  if (more.length > 0)
    return { text: `${company.name} has leads ${company.leads.map(({ lead }) => lead).join(' and ')}; say which number.` };
  return { text: '', call: { name: 'delete_program_lead', args: { lead: only.lead } } };
}

function replyTo({ said, results }: ScriptedTurn): Reply {
  const wish = readSentence(said);
  const last = results.at(-1);
  // Whatever was to be changed was changed, or could not be.
  if (last !== undefined && last.toolName !== 'search_entities') return { text: inWords(last) };
  switch (wish.type) {
    case 'search':
      return afterSearch(wish.query, results) ?? { text: last === undefined ? '' : inWords(last) };
    case 'report':
      return afterSearch(wish.query, results) ?? { text: toReport(results.flatMap(foundIn)) };
    case 'create':
      return createLead(wish, results);
    case 'delete':
      return { text: '', call: { name: 'delete_program_lead', args: { lead: wish.lead } } };
    case 'delete-of':
      return replyToDelete(wish, results);
    case 'help':
      return { text: helpText };
    case 'unknown':
      return { text: unknownText };
  }
}

function summary({ results }: ScriptedTurn): Reply {
  const last = results.at(-1);
  const had = last === undefined ? 'I had not begun.' : inWords(last);
  return { text: `A limit was reached before I was done, so the rest is left to do. ${had}` };
}

// Four characters make about one token.
const tokens = (...texts: readonly string[]): number => Math.ceil(texts.join('').length / 4);
const weight = (messages: readonly Message[]): number => tokens(JSON.stringify(messages));

/** Words one by one, as a model's answer comes. */
async function* pieces(text: string, pace: () => Promise<void>): AsyncGenerator<string> {
  for (const piece of text.match(/\s*\S+/g) ?? []) {
    await pace();
    yield piece;
  }
}

/** The answer of the script. `pace` is waited for before each word. */
export function answer(request: ModelRequest, pace: () => Promise<void> = async () => undefined): ScriptedAnswer {
  const turn = readTurn(request);
  const { text, call } = turn.mustEnd ? summary(turn) : replyTo(turn);
  const toolCalls: readonly ScriptedToolCall[] = call === undefined ? [] : [{ ...call, id: turn.nextCallId }];
  return {
    chunks: pieces(text, pace),
    toolCalls,
    usage: { input: 180 + weight(request.messages), output: tokens(text, ...toolCalls.map((made) => JSON.stringify(made))) },
  };
}
