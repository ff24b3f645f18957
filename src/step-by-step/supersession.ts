/** Reason of a signal that interrupts a run for a new message: its step is recorded as superseded. */
export class Supersession {
  readonly message = 'interrupted by a new message';
}
