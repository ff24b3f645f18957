// A question that a person answers: a tool that runs outside, input of a participant, or a call whose end is unknown.
import type { ReactElement } from 'react';
import { useState } from 'react';
import type { AgentActions, ViewWait } from 'stepline/ui';
import { ArgsView } from './args-view.tsx';
import { useDecision } from './use-decision.ts';
import { useWholeWait } from './use-whole-wait.ts';
import { WaitCard } from './wait-card.tsx';

/** Reads an answer: JSON if it looks like an object or a list, else the text itself. */
export function toAnswer(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

const titles: Readonly<Record<string, (name: string) => string>> = {
  'client-tool': (name) => `${name} waits for an answer`,
  'unknown-call': (name) => `Did ${name} take effect?`,
  person: (name) => `${name} is asked`,
};

/** Lets a person answer. */
export function QuestionCard({
  wait,
  actions,
}: {
  readonly wait: ViewWait;
  readonly actions: Pick<AgentActions, 'readWait' | 'answer'>;
}): ReactElement {
  const [text, setText] = useState('');
  const action = useDecision(wait);
  const { args, shown } = useWholeWait(wait, actions.readWait);
  const name = wait.tool ?? wait.participant ?? 'input';
  const submit = (): void => {
    if (text.trim() === '') action.setError('Write an answer first.');
    // Holds: a text or parsed JSON.
    else void action.run(() => actions.answer(shown, toAnswer(text) as never));
  };
  return (
    <WaitCard name={`Question: ${name}`} title={(titles[wait.type] ?? titles['client-tool'])?.(name) ?? name} wait={wait} action={action}>
      {wait.prompt !== undefined && <p className="plain">{wait.prompt}</p>}
      {args !== undefined && <ArgsView args={args} />}
      <form
        className="wait-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label>
          <span>Answer</span>
          <textarea rows={2} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <div className="buttons">
          <button type="submit" className="button primary" disabled={action.isLocked}>
            Send answer
          </button>
        </div>
      </form>
    </WaitCard>
  );
}
