/** A problem as a client is told. From 4000 a client stays away, from 4200 it connects again at once. */
export interface ProtocolProblem {
  readonly code: number;
  readonly message: string;
}

type ProblemName =
  | 'unknownApp'
  | 'overQuota'
  | 'unknownPath'
  | 'unsupportedProtocol'
  | 'noProtocol'
  | 'unauthorized'
  | 'invalidMessage'
  | 'closing'
  | 'noPong'
  | 'rateLimited'
  | 'clientEventRefused';

export const problems: Readonly<Record<ProblemName, ProtocolProblem>> = {
  unknownApp: { code: 4001, message: 'Application does not exist' },
  overQuota: { code: 4004, message: 'Application is over connection quota' },
  unknownPath: { code: 4005, message: 'Path not found' },
  unsupportedProtocol: { code: 4007, message: 'Unsupported protocol version' },
  noProtocol: { code: 4008, message: 'No protocol version supplied' },
  unauthorized: { code: 4009, message: 'Connection is unauthorized' },
  invalidMessage: { code: 4200, message: 'Invalid message format' },
  closing: { code: 4200, message: 'The server is closing' },
  noPong: { code: 4201, message: 'Pong reply not received in time' },
  rateLimited: { code: 4301, message: 'Client event rejected: rate limit exceeded' },
  clientEventRefused: { code: 4301, message: 'Client event rejected: only for members of private and presence channels' },
};
