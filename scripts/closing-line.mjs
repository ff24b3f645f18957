// A vitest reporter that ends the run with one plain line: "N passed, N failed, N skipped".

/** @type {import('vitest/node').Reporter} */
export const closingLine = {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      // A file or a suite that breaks outside its tests counts as one failure.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    console.log(`${String(count.passed)} passed, ${String(count.failed)} failed, ${String(count.skipped + count.pending)} skipped`);
  },
};
