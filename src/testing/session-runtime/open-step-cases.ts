// The text and the events of a step that is still open.
import type { OpenStepItem, SessionRuntime } from '../../sessions/index.ts';
import { holds, same } from '../conformance.ts';
import type { Follower } from './follow.ts';
import { follow } from './follow.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { collect, waitUntil } from './runtime-stage.ts';

const followStep = (runtime: SessionRuntime, id: string): Follower<OpenStepItem> =>
  follow((signal) => runtime.openStep(id, { follow: true, signal }));

/** Fails the case unless a text begins an answer, and has reached a part of it: the rest may come with the events of the step only. */
function checkBegins(text: string, { answer, reached }: { readonly answer: string; readonly reached: string }): void {
  holds(
    `${answer} `.startsWith(text) && text.startsWith(reached),
    `the text is ${JSON.stringify(text)}, the answer ${JSON.stringify(answer)}`,
  );
}

/** Puts the pieces of an attempt together. Fails the case if one does not follow the piece before it. */
function joinText(seen: readonly OpenStepItem[], attempt: number, step = 1): string {
  let text = '';
  for (const each of seen) {
    if (each.type !== 'text' || each.attempt !== attempt || each.step !== step) continue;
    same(each.offset, text.length, `offset of the piece ${JSON.stringify(each.text)} behind ${JSON.stringify(text)}`);
    text += each.text;
  }
  return text;
}

const findEvents = (seen: readonly OpenStepItem[], type: string): readonly Extract<OpenStepItem, { readonly type: 'event' }>[] =>
  seen.flatMap((item) => (item.type === 'event' && item.event.type === type ? [item] : []));

const isRecorded = (seen: readonly OpenStepItem[]): boolean => seen.some(({ type }) => type === 'recorded');

export const openStepCases: RuntimeCases = {
  'reads the text that an open step has written so far': async ({ runtime, world, start, becomes }) => {
    await start('one', 'write one two@g three');
    const seen = await waitUntil(async () => {
      const items = await collect(runtime.openStep('one'));
      return joinText(items, 1).startsWith('one two') ? items : undefined;
    }, 'the text of the open step');
    for (const { execution, step, attempt } of seen) same([execution, step, attempt], [1, 1, 1], 'place of an item');
    holds(!joinText(seen, 1).includes('three'), 'text can be read that was not written yet');
    await world.open('g');
    await becomes('one', 'completed');
    same(await collect(runtime.openStep('one')), [], 'items when no step is open');
  },
  'follows the text of an open step until it is recorded': async ({ runtime, world, create, send, becomes }) => {
    await create('one');
    const follower = followStep(runtime, 'one');
    await send('one', 'write one two@g three', { until: 'accepted' });
    await follower.reach((seen) => joinText(seen, 1).startsWith('one two'), 'the first words');
    const late = followStep(runtime, 'one');
    await late.reach((seen) => joinText(seen, 1).startsWith('one two'), 'the first words, for one who comes late');
    await world.open('g');
    await becomes('one', 'completed');
    for (const each of [follower, late]) {
      await each.reach(isRecorded, 'that the step is recorded');
      await each.leave();
      checkBegins(joinText(each.seen, 1), { answer: 'one two three', reached: 'one two' });
      same(each.seen.at(-1)?.type, 'recorded', 'last word');
      holds(!each.seen.some(({ type }) => type === 'void'), 'the text was void, though nothing went wrong');
    }
  },
  'follows the text of later steps too': async ({ runtime, world, create, send, becomes }) => {
    await create('one');
    const follower = followStep(runtime, 'one');
    await send('one', 'look 1; write a@g b', { until: 'accepted' });
    await follower.reach((seen) => joinText(seen, 1, 2).startsWith('a'), 'the text of the second step');
    await world.open('g');
    await becomes('one', 'completed');
    await follower.reach((seen) => seen.some(({ type, step }) => type === 'recorded' && step === 2), 'that the second step is recorded');
    await follower.leave();
    checkBegins(joinText(follower.seen, 1, 2), { answer: 'a b', reached: 'a' });
  },
  'reads the events of an open step before they are stored': async ({ runtime, world, create, send, becomes }) => {
    await create('one');
    const follower = followStep(runtime, 'one');
    await send('one', 'look 1@g', { until: 'accepted' });
    await follower.reach((seen) => findEvents(seen, 'ToolCallStarted').length > 0, 'that the call started');
    for (const { event, ...place } of findEvents(follower.seen, 'ToolCallStarted')) {
      same([place.execution, place.step, place.attempt], [1, 1, 1], 'place of an event');
      same([event['tool'], event['args'], event['seq']], ['look', { amount: 1, gate: 'g' }, undefined], 'fields of an event');
    }
    const stored = await collect(runtime.events('one'));
    holds(!stored.some(({ type }) => type === 'ToolCallStarted'), 'the event of an open step is stored');
    await world.open('g');
    await becomes('one', 'completed');
    await follower.reach(isRecorded, 'that the step is recorded');
    await follower.leave();
    const indexes = follower.seen.flatMap((item) => (item.type === 'event' && item.step === 1 ? [item.index] : []));
    same(
      indexes,
      [...new Set(indexes)].sort((one, other) => one - other),
      'indexes of the events',
    );
  },
  'says that a text is void after the worker was killed, and follows the next attempt': {
    needs: ['kill', 'client'],
    check: async ({ runtime, world, start, kill, restart, becomes }) => {
      await start('one', 'write one two@g three@h four');
      const follower = followStep(runtime, 'one');
      await follower.reach((seen) => joinText(seen, 1).startsWith('one two'), 'the first words');
      await kill();
      await world.open('g');
      await restart();
      await follower.reach((seen) => joinText(seen, 2).startsWith('one two three'), 'the words of the second attempt');
      await world.open('h');
      await becomes('one', 'completed');
      await follower.reach(isRecorded, 'that the step is recorded');
      await follower.leave();
      const order = follower.seen.filter(({ type }) => type === 'void' || type === 'recorded').map(({ type, attempt }) => [type, attempt]);
      same(
        order,
        [
          ['void', 1],
          ['recorded', 2],
        ],
        'words about the attempts',
      );
      checkBegins(joinText(follower.seen, 2), { answer: 'one two three four', reached: 'one two three' });
    },
  },
};
