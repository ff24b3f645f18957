import { ClassifiedError, ErrorType } from '../errors/index.ts';

const inWords: Readonly<Record<string, string>> = {
  llm: 'a model',
  agent: 'an agent',
  human: 'a person',
  scripted: 'a script',
  function: 'a function',
};

/** A turn waited, and the one who took it is not there any more, or is somebody of another kind. */
export class ParticipantChangedError extends ClassifiedError {
  override readonly name = 'ParticipantChangedError';
  readonly code = 'participant-changed';
  readonly type: ErrorType = ErrorType.Unknown;

  constructor(participant: string, { was, is }: { readonly was: string | undefined; readonly is: string | undefined }) {
    const before = was === undefined ? '' : ` as ${inWords[was] ?? was}`;
    const now = is === undefined ? 'there is no such participant any more' : `is ${inWords[is] ?? is} now`;
    super(
      `The turn of ${participant} was begun${before}, and ${is === undefined ? now : `${participant} ${now}`}. Put it back, or send a message to go on.`,
      {
        retryable: false,
      },
    );
  }
}
