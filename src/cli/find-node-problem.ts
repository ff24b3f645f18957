/** Oldest release of Node that the package runs on, as in `engines` of package.json. */
const oldest = { major: 22, minor: 13 };

/** Says what is wrong with a version of Node, such as `v20.20.2`; undefined if it is new enough. */
export function findNodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < oldest.major || (major === oldest.major && minor < oldest.minor);
  return isOld ? `stepline needs Node ${oldest.major}.${oldest.minor} or later. This is ${version}.` : undefined;
}
