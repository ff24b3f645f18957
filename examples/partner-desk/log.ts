import type { BaseEvent } from 'stepline';
import { AgentConsoleLogger } from 'stepline/broadcasting';

/** Returns a listener that prints events to the error output, so that answers can be piped on without them. */
export function createLog(beforeLine: () => void = () => undefined): (event: BaseEvent) => void {
  const { stderr, env } = process;
  const print = (line: string): void => {
    beforeLine();
    stderr.write(`${line}\n`);
  };
  return new AgentConsoleLogger({ level: 'debug', colors: stderr.isTTY && (env['NO_COLOR'] ?? '') === '', print }).log;
}
