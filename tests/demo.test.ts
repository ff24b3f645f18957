// The demo over the sources, so that no built package is needed: what it reads, what it says, the script that stands in for a model,
// and the whole of it in processes that are stopped and killed. That it runs over the package is checked by `npm run examples`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { readOptions } from '../examples/partner-desk/options.ts';
import { createDirectory } from '../examples/partner-desk/partners.ts';
import { clipText, createScreen, harmless } from '../examples/partner-desk/screen.ts';
import { answer } from '../examples/partner-desk/script.ts';
import { examples, readSentence } from '../examples/partner-desk/sentences.ts';
import { readPiped } from '../examples/partner-desk/piped.ts';
import { createSpeech } from '../examples/partner-desk/speech.ts';
import type { AgentOptions, AgentState } from '../src/entry/index.ts';
import { createAgent, defineTool, Message } from '../src/entry/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { runPiped, startDesk } from './support/desk.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-demo-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the sentences', () => {
  it.each([
    ['Find Acme', { type: 'search', query: 'Acme' }],
    ['please search for the company Blue Harbor.', { type: 'search', query: 'Blue Harbor' }],
    ['Who is in Berlin?', { type: 'search', query: 'Berlin' }],
    ['Which partners are in Hamburg', { type: 'search', query: 'Hamburg' }],
    ['Find partners in Vienna', { type: 'search', query: 'Vienna' }],
    ['Create a lead for Nordwind in program Growth', { type: 'create', company: 'Nordwind', program: 'Growth' }],
    ['add a new lead for "Käfer & Söhne" to the Gold program!', { type: 'create', company: 'Käfer & Söhne', program: 'Gold' }],
    ['Delete lead 2', { type: 'delete', lead: 2 }],
    ['remove program lead #17', { type: 'delete', lead: 17 }],
    ['Delete the lead of Vela', { type: 'delete-of', company: 'Vela' }],
    ['Write a report on partners in Berlin.', { type: 'report', query: 'Berlin' }],
    ['help', { type: 'help' }],
    ['?', { type: 'help' }],
    ['sing a song', { type: 'unknown' }],
    ['', { type: 'unknown' }],
    ['find', { type: 'unknown' }],
  ])('reads %j', (said, wish) => {
    expect(readSentence(said)).toEqual(wish);
  });

  it('understands every example it gives', () => {
    expect(examples.map(readSentence).filter(({ type }) => type === 'unknown')).toEqual([]);
  });
});

describe('the command line', () => {
  it.each([
    [[], { mode: 'page', offline: false }],
    [['--port', '8080', '--db', 'a.db'], { mode: 'page', offline: false, port: 8080, db: 'a.db' }],
    [['--log', '--port', '0'], { mode: 'page', offline: false, log: true, port: 0 }],
    [['--port'], { mode: 'wrong', problem: 'Name a port from 0 to 65535: --port 8080' }],
    [['--port', '65536'], { mode: 'wrong', problem: 'Name a port from 0 to 65535: --port 8080' }],
    [['--port', 'http'], { mode: 'wrong', problem: 'Name a port from 0 to 65535: --port 8080' }],
    [['--terminal', '--port', '80'], { mode: 'wrong', problem: '--terminal serves no page, so it takes no --port.' }],
    [['--new'], { mode: 'wrong', problem: '--new goes with --terminal. On the page, press "New session".' }],
    [['--terminal'], { mode: 'chat', offline: false, isNew: false }],
    [['--terminal', '--new', '--db', 'a.db'], { mode: 'chat', offline: false, isNew: true, db: 'a.db' }],
    [['--terminal', '--log'], { mode: 'chat', offline: false, log: true, isNew: false }],
    [['--db', '--terminal'], { mode: 'wrong', problem: 'Name a file: --db FILE' }],
    [['--once', '--terminal'], { mode: 'wrong', problem: '--once and --terminal do not go together.' }],
    [['--once', '--db', 'a.db'], { mode: 'wrong', problem: '--once keeps nothing, so it takes no --db.' }],
    [['--once', 'Find Acme'], { mode: 'once', question: 'Find Acme', offline: false }],
    [['--once', '--offline'], { mode: 'once', offline: true }],
    [['--once', '--log'], { mode: 'once', offline: false, log: true }],
    [['--tour'], { mode: 'tour', offline: false }],
    [['--tour', 'Acme'], { mode: 'wrong', problem: '--tour takes no question.' }],
    [['-h'], { mode: 'help', offline: false }],
    [['--nope'], { mode: 'wrong', problem: 'There is no option --nope.' }],
    [['Find', 'Acme'], { mode: 'wrong', problem: 'Put --once before a question: --once "Find Acme"' }],
    [['--terminal', 'Find'], { mode: 'wrong', problem: 'Put --once before a question: --once "Find"' }],
    [['--once', 'Find', 'Acme'], { mode: 'wrong', problem: 'Put the question in quotes: --once "Find Acme"' }],
    [['--once', ' '], { mode: 'wrong', problem: 'The question is empty.' }],
    [['--once', '--tour'], { mode: 'wrong', problem: '--once and --tour do not go together.' }],
  ])('reads %j', (args, options) => {
    expect(readOptions(args)).toEqual(options);
  });
});

describe('the directory', () => {
  it('finds by name and by city, however it is written', () => {
    const { search } = createDirectory();
    expect(search('kaefer').map(({ id }) => id)).toEqual(['kaefer']);
    expect(search('berlin')).toHaveLength(3);
    expect(search('acme berlin').map(({ leads }) => leads)).toEqual([[{ lead: 1, program: 'Growth' }]]);
  });

  it('never gives a number twice', () => {
    const directory = createDirectory();
    expect(directory.createLead({ companyId: 'lumen', program: 'gold' }, 'a').lead).toBe(4);
    directory.deleteLead(4, 'b');
    expect(directory.createLead({ companyId: 'lumen', program: 'Gold' }, 'c').lead).toBe(5);
    expect(() => directory.createLead({ companyId: 'lumen', program: 'Gold' }, 'd')).toThrow('already: lead 5');
    expect(() => directory.createLead({ companyId: 'nobody', program: 'Gold' }, 'e')).toThrow('no company');
    expect(directory.leads()).toHaveLength(4);
  });

  it('changes nothing where the same call asks again, also in another process', () => {
    const file = join(folder, 'leads');
    const wanted = { companyId: 'lumen', program: 'Gold' };
    const first = createDirectory(file);
    const made = first.createLead(wanted, 'call');
    const deleted = first.deleteLead(2, 'other call');
    first.close();
    const second = createDirectory(file);
    expect(second.createLead(wanted, 'call')).toEqual(made);
    expect(second.leadMadeBy('call')).toEqual(made);
    expect(second.leadMadeBy('other call')).toBeUndefined();
    expect(second.deleteLead(2, 'other call')).toEqual(deleted);
    expect(() => second.deleteLead(2, 'a third call')).toThrow('There is no lead 2.');
    expect(second.leads().map(({ lead }) => lead)).toEqual([1, 3, 4]);
    second.close();
  });

  it('keeps directories in memory apart', () => {
    createDirectory().deleteLead(1, 'a');
    expect(createDirectory().leads()).toHaveLength(3);
  });
});

// The desk's tools over the sources, so that no built package is needed.
function deskFor(rules: Pick<AgentOptions, 'limits'> = {}) {
  const directory = createDirectory();
  const input = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] } as const;
  const search = defineTool({
    name: 'search_entities',
    description: 'Finds.',
    input,
    run: ({ query }) => ({ found: directory.search(query) }),
  });
  const create = defineTool({
    name: 'create_program_lead',
    description: 'Creates.',
    input: {
      type: 'object',
      properties: { companyId: { type: 'string' }, program: { type: 'string' } },
      required: ['companyId', 'program'],
    } as const,
    run: (wanted, { idempotencyKey }) => ({ created: directory.createLead(wanted, idempotencyKey) }),
  });
  const remove = defineTool({
    name: 'delete_program_lead',
    description: 'Deletes.',
    input: { type: 'object', properties: { lead: { type: 'integer' } }, required: ['lead'] } as const,
    needsApproval: true,
    run: ({ lead }, { idempotencyKey }) => ({ deleted: directory.deleteLead(lead, idempotencyKey) }),
  });
  const model = scriptedModel([(request) => answer(request)], { repeatLast: true });
  const agent = createAgent({ model, tools: [search, create, remove], ...rules });
  return { directory, say: async (input: string | AgentState) => agent.start(input).result };
}

describe('the script', () => {
  it('searches, and words what was found', async () => {
    const { text, usage, state } = await deskFor().say('Find Acme');
    expect(text).toContain('Acme Robotics, Berlin (warehouse robots): lead 1 in Growth');
    expect(state.stepCount).toBe(2);
    expect(usage.total).toBeGreaterThan(200);
  });

  it('writes a report that takes long enough to be interrupted', async () => {
    const { text } = await deskFor().say('Write a report on Berlin');
    for (const name of ['Acme Robotics', 'Spreewerk Design', 'Tinkerbox']) expect(text).toContain(`${name} is in Berlin`);
    expect(text.split(/\s+/).length).toBeGreaterThan(120);
  });

  it('searches before it creates', async () => {
    const { say, directory } = deskFor();
    const { text, state } = await say('Create a lead for Nordwind in program Growth');
    expect(text).toBe('Done: Nordwind Energy is lead 4 in the program Growth.');
    expect(state.steps.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name))).toEqual(['search_entities', 'create_program_lead']);
    expect(directory.leads()).toHaveLength(4);
  });

  it.each([
    ['Create a lead for Acme in program Gold', 'Which one do you mean: Acme Robotics or Acme Logistics? I did nothing yet.'],
    ['Create a lead for Nobody in program Gold', 'I know no partner called Nobody, so I did nothing.'],
    ['Create a lead for Lumen in program Tin', 'That did not work: There is no program "Tin"; there are Growth, Gold, Startup.'],
    ['Find Atlantis', 'I found no partner by that name or city.'],
    ['Write a report on Atlantis', 'I found no partner by that name or city, so there is nothing to report.'],
    ['Delete the lead of Lumen', 'Lumen Optics has no lead.'],
  ])('answers %j honestly', async (question, text) => {
    expect((await deskFor().say(question)).text).toBe(text);
  });

  it('takes a refusal, and goes on over turns with ids that are not used twice', async () => {
    const { say, directory } = deskFor();
    const waiting = await say('Delete the lead of Vela');
    expect(waiting.state.waitingFor).toMatchObject([{ type: 'approval', id: 'call-2', args: { lead: 3 } }]);
    const rejected = await say(waiting.state.reject('call-2', 'they just signed'));
    expect(rejected.text).toBe('I left it as it is: they just signed.');
    const again = await say(rejected.state.withUserMessage('Delete lead 3'));
    expect(again.state.waitingFor).toMatchObject([{ id: 'call-3' }]);
    const deleted = await say(again.state.approve('call-3', { args: { lead: 2 } }));
    expect(deleted.text).toBe('Done: lead 2 of Tinkerbox in Startup is deleted.');
    expect(directory.leads().map(({ lead }) => lead)).toEqual([1, 3]);
  });

  it('says what it has where a limit is reached', async () => {
    const { say, directory } = deskFor({ limits: { steps: 1, onLimit: 'finalize' } });
    const { text, status } = await say('Create a lead for Nordwind in program Growth');
    expect(status).toBe('stopped');
    expect(text).toContain('so the rest is left to do. I found one partner');
    expect(directory.leads()).toHaveLength(3);
  });

  it('calls again what was cut off before it took effect', () => {
    const lost = 'The call was interrupted before it took effect. Call it again if it is still wanted.';
    const call = (id: string) => ({ id, name: 'delete_program_lead', args: { lead: 2 } });
    const messages = [
      Message.user('Delete lead 2'),
      Message.assistant([{ type: 'tool-call', toolCallId: 'call-1', toolName: 'delete_program_lead', args: { lead: 2 } }]),
      Message.tool({ toolCallId: 'call-1', toolName: 'delete_program_lead', output: { type: 'error', value: lost } }),
    ];
    const request = { messages, tools: [{ type: 'function', name: 'delete_program_lead', description: '', inputSchema: {} }] } as const;
    expect(answer(request as never).toolCalls).toEqual([call('call-2')]);
  });

  it('gives a list to what it does not understand, and calls nothing', async () => {
    const { text, state } = await deskFor().say('sing a song');
    for (const example of examples) expect(text).toContain(example);
    expect(state.steps.flatMap(({ toolCalls }) => toolCalls)).toEqual([]);
  });
});

describe('the screen', () => {
  const writeToScreen = (isTTY: boolean, columns: number, env: Record<string, string> = {}) => {
    const output = { isTTY, columns, text: '', write: (text: string) => (output.text += text) };
    return { output, screen: createScreen(output, env) };
  };

  it('has colours only on a terminal that wants them', () => {
    expect(writeToScreen(true, 80).screen.paint.red('x')).toContain('\u001B[31m');
    expect(writeToScreen(true, 80, { NO_COLOR: '1' }).screen.paint.red('x')).toBe('x');
    expect(writeToScreen(false, 80).screen.paint.red('x')).toBe('x');
  });

  it('keeps words whole, wherever the pieces were cut', () => {
    const { output, screen } = writeToScreen(true, 24, { NO_COLOR: '1' });
    const speech = createSpeech(screen);
    for (const piece of ['\nOne t', 'wo three fo', 'ur five\n  - si', 'x']) speech.take(piece);
    speech.end();
    expect(output.text).toBe('desk › One two three\n       four five\n         - six\n');
  });

  it('lets no text steer the terminal', () => {
    expect(harmless('a\u001B[2Jb\u0007c\r\nd')).toBe('abc\nd');
    expect(clipText('one\n  two three', 9)).toBe('one two …');
  });
});

describe('a conversation', { timeout: 60_000 }, () => {
  it('finishes the answer in the middle of which it was killed', async () => {
    const db = join(folder, 'killed.db');
    const first = startDesk(db);
    await first.says('you ›');
    first.type('Help');
    await first.says('I can look');
    await first.kill();
    expect(first.output()).not.toContain('Finished');

    const second = startDesk(db);
    await second.says('It was interrupted in the middle of an answer, and goes on now.');
    await second.says('I can look');
    await second.says('Completed in step 1: the model answered and called no tools.');
    second.type('/why');
    await second.says('Step 1');
    expect(await second.quit()).toBe(0);
  });

  it('is refused in one line where the file is something else, which is left alone', async () => {
    const db = join(folder, 'notes.txt');
    writeFileSync(db, 'Buy milk.');
    const desk = startDesk(db);
    expect(await desk.exit).toBe(1);
    expect(desk.output().split('\n')).toContainEqual(expect.stringMatching(/^The session store cannot be used: .*notes\.txt/));
    expect(desk.output()).not.toMatch(/^ +at /m);
    expect(readFileSync(db, 'utf8')).toBe('Buy milk.');
  });
});

describe('a question without a terminal', { timeout: 60_000 }, () => {
  it('is read from the pipe and answered', async () => {
    const { code, output } = await runPiped('Find Acme\n');
    expect(code).toBe(0);
    expect(output).toContain('you › Find Acme');
    expect(output).toContain('Acme Robotics, Berlin');
  });

  it.each([[''], ['\n']])('is the usual one if %j is piped in', async (text) => {
    const { code, output } = await runPiped(text);
    expect([code, /you › (.*)/.exec(output)?.[1]]).toEqual([0, 'Who is in Berlin?']);
  });

  it('on the command line wins over the pipe', async () => {
    const { output } = await runPiped('Find Acme', '--once', 'Find Vela');
    expect(output).toContain('you › Find Vela');
  });

  it('is printed without secrets, and so are arguments, results and the answer', async () => {
    const key = ['sk', 'proj-abcdefghijklmnop1234'].join('-');
    const { code, output } = await runPiped(`Find ${key}`);
    expect(code).toBe(0);
    expect(output).toContain('search_entities {"query":"[redacted]"}');
    expect(output).not.toContain(key.slice(3, 15));
  });

  it('is taken as it is if the pipe stays open, and is the usual one if nothing comes', async () => {
    const [said, silent] = [new PassThrough(), new PassThrough()];
    said.write('Find Acme\n');
    expect(await readPiped(said, 5)).toBe('Find Acme');
    expect(await readPiped(silent, 5)).toBeUndefined();
    expect([said.destroyed, silent.destroyed]).toEqual([true, true]);
  });
});
