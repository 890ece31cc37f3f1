/** One thing for each combination of three words; it is found without a key being made of them. */
export class Combinations<T> {
  readonly #make: (a: string, b: string, c: string) => T
  readonly #made = new Map<string, Map<string, Map<string, T>>>()

  constructor(make: (a: string, b: string, c: string) => T) {
    this.#make = make
  }

  at(a: string, b: string, c: string): T {
    const found = this.#made.get(a)?.get(b)?.get(c)
    return found ?? this.#begin(a, b, c)
  }

  #begin(a: string, b: string, c: string): T {
    const seconds = this.#made.get(a) ?? new Map<string, Map<string, T>>()
    const thirds = seconds.get(b) ?? new Map<string, T>()
    const one = this.#make(a, b, c)
    this.#made.set(a, seconds.set(b, thirds.set(c, one)))
    return one
  }
}
