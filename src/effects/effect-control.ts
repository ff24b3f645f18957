/** The part of a run's control that effects listen to. */
export interface EffectControl {
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Set once the run is interrupted. */
  readonly interruption: unknown;
  /** Calls back when the run is interrupted, at once if it already is; returns its unsubscribe. */
  onInterrupt(call: () => void): () => void;
  /** Calls back when the run is interrupted or asked to stop, at once if it already is; returns its unsubscribe. */
  onEnding(call: () => void): () => void;
}
