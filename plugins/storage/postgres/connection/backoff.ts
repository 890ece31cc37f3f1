/** The time before the next try in milliseconds: twice as long each time, from 100 up to 5,000, and a random half of it less, so that many processes do not come at once. */
export const backoff = (tries: number): number =>
  Math.min(5_000, 100 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2)
