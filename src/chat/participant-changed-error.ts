import { ClassifiedError, ErrorType } from '../errors/index.ts';

const kindNames: Readonly<Record<string, string>> = {
  llm: 'a model',
  agent: 'an agent',
  human: 'a person',
  scripted: 'a script',
  function: 'a function',
};

/** A turn waited, and its participant is gone or is now of another kind. */
export class ParticipantChangedError extends ClassifiedError {
  override readonly name = 'ParticipantChangedError';
  readonly code = 'participant-changed';
  readonly type: ErrorType = ErrorType.Unknown;

  constructor(participant: string, { was, is }: { readonly was: string | undefined; readonly is: string | undefined }) {
    const before = was === undefined ? '' : ` as ${kindNames[was] ?? was}`;
    const now = is === undefined ? 'there is no such participant any more' : `${participant} is ${kindNames[is] ?? is} now`;
    super(
      `Cannot resume the turn of ${participant}: it started${before}, but ${now}. Restore that participant, or send a message to continue.`,
      { retryable: false },
    );
  }
}
