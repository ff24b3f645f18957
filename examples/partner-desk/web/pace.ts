/** Milliseconds between two words of the script on the page: slow enough to see a worker die in the middle of an answer. */
export const pagePaceMs = 45;
