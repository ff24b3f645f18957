/** A stored value in words, for a page: a short label, and a sentence that says what it means. */
export interface ValueDescription {
  readonly label: string;
  readonly sentence: string;
}
