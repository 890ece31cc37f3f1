import type { AnyRow, DriverSum, Group } from 'guard-gateway/core'

type Mutable = { by: Group['by']; rows: number; sums: Record<string, number> }

/** Adds rows up, those together that are equal in some columns. */
export class Groups {
  readonly #asked: Pick<DriverSum, 'by' | 'of'>
  readonly #groups = new Map<string, Mutable>()

  constructor(asked: Pick<DriverSum, 'by' | 'of'>) {
    this.#asked = asked
  }

  add(values: AnyRow): void {
    const { by, of } = this.#asked
    const key = by.map((name) => values[name] ?? null)
    const name = JSON.stringify(key)
    let group = this.#groups.get(name)
    if (group === undefined) {
      const same = Object.fromEntries(by.map((column, at) => [column, key[at]])) as Group['by']
      group = { by: same, rows: 0, sums: Object.fromEntries(of.map((column) => [column, 0])) }
      this.#groups.set(name, group)
    }
    group.rows++
    for (const column of of) group.sums[column] = (group.sums[column] ?? 0) + Number(values[column] ?? 0)
  }

  all(): readonly Group[] {
    return [...this.#groups.values()]
  }
}
