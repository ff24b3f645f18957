/** Parts of an outcome that say which evaluation decided. */
interface Decided<Evaluation> {
  readonly decision: string;
  readonly resolvedBy: string;
  readonly evaluations: readonly Evaluation[];
}

/** Finds the evaluation that decided an outcome, or its stored form; undefined if none did alone. */
export function findDecisiveEvaluation<Evaluation extends { readonly criterion: string; readonly decision: string }>({
  decision,
  resolvedBy,
  evaluations,
}: Decided<Evaluation>): Evaluation | undefined {
  const named = evaluations.filter(({ criterion }) => criterion === resolvedBy);
  return named.find((evaluation) => evaluation.decision === decision) ?? named[0];
}
