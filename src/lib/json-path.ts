const plainKey = /^[A-Za-z_$][\w$]*$/;

/** The way to a field or an item below `path`, as in `steps[2].usage["cache read"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${String(key)}]`;
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
