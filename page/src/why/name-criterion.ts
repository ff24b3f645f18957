/** Names a criterion in words: `StepsLimitCheck` is "Steps limit check". Names of the host's own stay as they are. */
export function nameCriterion(name: string): string {
  if (!/^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/.test(name)) return name;
  const [first = '', ...rest] = name.split(/(?=[A-Z])/);
  return [first, ...rest.map((word) => word.toLowerCase())].join(' ');
}
