const longest = 60;

/** Quotes text from outside in a message: cut after 60 characters, on one line. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);
}
