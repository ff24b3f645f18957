// Who decided: a person if one did, else the criterion.
import type { ViewWhy } from 'stepline/ui';
import { describeCriterion } from './describe-criterion.ts';

const actions: Readonly<Record<ViewWhy['people'][number]['action'], string>> = {
  cancelled: 'who cancelled the run',
  granted: 'who granted more',
  refused: 'who granted no more',
};

/** Says who decided; undefined if nothing was decided. */
export function describeDecider({ people, resolved_by }: Pick<ViewWhy, 'people' | 'resolved_by'>): string | undefined {
  const isStopped = people[0]?.action === 'cancelled' && resolved_by === 'StopRequested';
  const named = people.map(({ id, action }, index) => (isStopped && index === 0 ? `${id} (${resolved_by})` : `${id}, ${actions[action]}`));
  const rule = isStopped || resolved_by === undefined || resolved_by === '' ? [] : [describeCriterion(resolved_by)];
  return named.length + rule.length === 0 ? undefined : [...named, ...rule].join('; ');
}
