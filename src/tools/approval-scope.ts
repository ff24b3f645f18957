/** Range of an approval that is given for the rest of a session. */
export interface ApprovalScope {
  /** `exact`: calls with the same arguments as the one that was shown. `any`: all calls of the tool. */
  readonly arguments: 'exact' | 'any';
  /** Number of calls that it covers, the first one included. */
  readonly maxUses: number;
  /** Time after which it covers nothing more. */
  readonly expiresMs: number;
}
