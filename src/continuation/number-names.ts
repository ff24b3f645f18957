/**
 * Numbers names that come more than once: `A`, `A#2`, `A#3`. The first keeps its name; a number that is taken is skipped.
 * A name depends on those before it only, so further criteria at the end rename none.
 */
export function numberNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let numbered = name;
    for (let number = 2; taken.has(numbered); number += 1) numbered = `${name}#${number}`;
    taken.add(numbered);
    return numbered;
  });
}
