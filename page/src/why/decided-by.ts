// Who decided: a person if one did, else the criterion.
import type { ViewWhy } from 'stepline/ui';
import { describeCriterion } from './describe-criterion.ts';

const actions: Readonly<Record<string, string>> = {
  cancelled: 'who cancelled the run',
  granted: 'who granted more',
  refused: 'who granted no more',
};

interface Decider {
  readonly id: string;
  readonly action: string;
}

const isDecider = (value: unknown): value is Decider =>
  typeof value === 'object' && value !== null && 'id' in value && 'action' in value && typeof value.id === 'string';

/** Reads the people who had a part in the decision, if the view names them. */
function readPeople(why: ViewWhy): readonly Decider[] {
  const people: unknown = Reflect.get(why, 'people');
  return Array.isArray(people) ? people.filter(isDecider) : [];
}

/** Says who decided; undefined if nothing was decided. */
export function describeDecider(why: ViewWhy): string | undefined {
  const named = readPeople(why).map(({ id, action }) => `${id}, ${actions[action] ?? action}`);
  const rule = why.resolved_by === undefined || why.resolved_by === '' ? [] : [describeCriterion(why.resolved_by)];
  return named.length + rule.length === 0 ? undefined : [...named, ...rule].join('; ');
}
