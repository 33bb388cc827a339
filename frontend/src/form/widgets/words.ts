/** A value of a choice as people read it: `dead_letter` is "dead letter". */
export function words(choice: string): string {
  return choice.replaceAll("_", " ");
}
