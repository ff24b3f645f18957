// A run on the screen, as it happens: words, calls with arguments, results and times, failures.
import type { Json } from 'stepline';
import type { DeskEvent, DeskRun } from './desk.ts';
import { redactJson, redactText } from './redacted.ts';
import type { Screen } from './screen.ts';
import { clipText, showProblem, time } from './screen.ts';
import type { Speech } from './speech.ts';
import { createSpeech } from './speech.ts';

type CompletedCall = Extract<DeskEvent, { readonly type: 'ToolCallCompleted' }>;

export interface Show {
  event(event: DeskEvent): void;
  end(): void;
}

/** Length of a shortened result if lines have no width. */
const widest = 160;

function callLine(screen: Screen, mark: string, { tool, rest }: { readonly tool: string; readonly rest: string }): void {
  const room = Math.min(screen.width, widest) - tool.length - 9;
  screen.line(`     ${mark} ${screen.paint.cyan(tool)} ${screen.paint.dim(clipText(rest, room))}`);
}

/** A call that waits for a person. */
export function showGated(screen: Screen, tool: string, args: Json): void {
  callLine(screen, screen.paint.yellow('?'), { tool, rest: `${redactJson(args)}  needs approval` });
}

export interface ShowOptions {
  /** Shows words while they are spoken. Else they are shown when they are complete, without secrets. @default true */
  readonly isLive?: boolean;
}

/** Words that are shown when they are complete: a secret may come in pieces. */
function createRedactedSpeech(screen: Screen): Speech {
  const speech = createSpeech(screen);
  let said = '';
  return {
    take: (text) => {
      said += text;
    },
    end: () => {
      speech.take(redactText(said));
      said = '';
      speech.end();
    },
  };
}

/** Shows the events of one run. */
export function createShow(screen: Screen, { isLive = true }: ShowOptions = {}): Show {
  const { paint } = screen;
  const speech = isLive ? createSpeech(screen) : createRedactedSpeech(screen);
  let failedCalls = 0;

  const showResult = (event: CompletedCall): void => {
    if (event.status === 'failed') failedCalls += 1;
    const mark = event.success ? paint.green('←') : paint.red('←');
    const result = event.success ? redactJson(event.result) : redactText(event.error).replace(`"${event.tool}" failed: `, 'failed: ');
    callLine(screen, mark, { tool: event.tool, rest: `${time(event.durationMs)}  ${result}` });
  };
  const failures = (messages: readonly string[]): void => {
    for (const message of messages) showProblem(screen, redactText(message));
  };

  return {
    event: (event) => {
      if (event.type === 'TextDelta') {
        speech.take(event.text);
        return;
      }
      speech.end();
      if (event.type === 'AgentStepStarted') failedCalls = 0;
      if (event.type === 'ToolCallStarted') callLine(screen, paint.dim('→'), { tool: event.tool, rest: redactJson(event.args) });
      if (event.type === 'ToolApprovalRequested') showGated(screen, event.tool, event.args);
      if (event.type === 'ToolCallCompleted') showResult(event);
      if (event.type === 'RetryScheduled')
        screen.line(paint.dim(`     … waits ${time(event.delayMs)} and tries again (${event.errorType})`));
      // What a tool failed with was shown with its call.
      if (event.type === 'AgentStepCompleted' && failedCalls === 0 && event.interrupted === undefined) failures(event.errorMessages);
    },
    end: () => {
      speech.end();
    },
  };
}

/** Follows a run to its end. */
export async function follow(run: DeskRun, screen: Screen, options?: ShowOptions): DeskRun['result'] {
  const show = createShow(screen, options);
  for await (const event of run) show.event(event);
  show.end();
  return run.result;
}
