const THIN_SPACE = "\u202f";

/** A whole number with thin groups of three: `412 880`. */
export function count(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

/** A number short enough for a card: `9.1k`, `2.4M`; below a thousand as it is. */
export function short(n: number): string {
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    // 999.95k would round to 1000.0k.
    if (Math.abs(n) >= size * 0.99995) return digits(n / size) + letter;
  }
  return digits(n);
}

/** A rate with its unit: `1.2k/s`. */
export function rate(perSecond: number): string {
  return `${short(perSecond)}/s`;
}

function digits(n: number): string {
  const size = Math.abs(n);
  if (size >= 100 || Number.isInteger(n)) return Math.round(n).toString();
  return Number(n.toFixed(size < 1 ? 2 : 1)).toString();
}
