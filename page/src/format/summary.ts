// Summaries of arguments, which may be JSON that was cut.

/** Makes a summary readable: the names and values without the signs of JSON. */
export const toPlainSummary = (summary: string): string =>
  /^\s*[{[]/.test(summary)
    ? summary
        .replaceAll(/\\[nrt]/g, ' ')
        .replaceAll(/\\(["\\])/g, '$1')
        .replaceAll(/,"([\w-]+)":/g, ', $1: ')
        .replaceAll(/"([\w-]+)":/g, '$1: ')
        .replaceAll(/[{}[\]"]/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
    : summary;
