// A live view that is open while somebody listens.
import type { AgentActions, AgentSnapshot, AgentViewOptions, LiveAgentView } from '../index.ts';
import { createAgentView, createView } from '../index.ts';
import { systemClock } from '../../lib/index.ts';

/** Time that a view stays open without listeners: React may leave and come back at once. */
const lingerMs = 1_000;

export class LazyAgentView {
  readonly #options: AgentViewOptions;
  readonly #initial: AgentSnapshot;
  readonly actions: AgentActions;
  #live: LiveAgentView | undefined;
  #listeners = 0;
  #cancelClose: () => void = () => undefined;

  constructor(options: AgentViewOptions) {
    this.#options = options;
    this.#initial = { view: createView(options.sessionId), connection: 'connecting' };
    this.actions = {
      send: (content, more) => this.#use().send(content, more),
      cancel: (reason) => this.#use().cancel(reason),
      resume: () => this.#use().resume(),
      readWait: (waitId) => this.#use().readWait(waitId),
      approve: (wait, more) => this.#use().approve(wait, more),
      reject: (wait, reason) => this.#use().reject(wait, reason),
      answer: (wait, value) => this.#use().answer(wait, value),
      grant: (amounts) => this.#use().grant(amounts),
    };
  }

  /** Nothing is known before somebody listens: a server renders that. */
  readonly getInitial = (): AgentSnapshot => this.#initial;

  readonly getCurrent = (): AgentSnapshot => this.#live?.current ?? this.#initial;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#cancelClose();
    this.#listeners += 1;
    const unsubscribe = this.#open().subscribe(listener);
    return () => {
      unsubscribe();
      this.#listeners -= 1;
      this.#closeSoon();
    };
  };

  #open(): LiveAgentView {
    this.#live ??= createAgentView(this.#options);
    return this.#live;
  }

  /** Opens the view for an action. Without listeners it does not stay open. */
  #use(): LiveAgentView {
    const live = this.#open();
    this.#closeSoon();
    return live;
  }

  #closeSoon(): void {
    if (this.#listeners > 0) return;
    const { clock = systemClock } = this.#options;
    this.#cancelClose();
    this.#cancelClose = clock.schedule(lingerMs, () => {
      this.#live?.close();
      this.#live = undefined;
    });
  }
}
