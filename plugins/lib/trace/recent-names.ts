import { visibleProjects } from 'guard-gateway/lib/principal'
import { LRU } from 'tiny-lru'
import type { FigureGroup, Figures } from './figures.ts'

const WEEK_MS = 7 * 24 * 3_600_000
/** Names change seldom, and live pages are asked for every second. */
const KEPT_MS = 30_000
const MAX_NAMES = 50
const MAX_KEPT = 300

interface Kept {
  readonly at: number
  readonly names: Promise<readonly string[]>
}

/** Names of agents, models or projects of calls of the last seven days, the most frequent first; what fields of filters suggest. */
export class RecentNames {
  readonly #figures: () => Pick<Figures, 'read'> | undefined
  /** By group and by the projects that whoever asked sees. */
  readonly #kept = new LRU<Kept>(MAX_KEPT)

  constructor(figures: () => Pick<Figures, 'read'> | undefined) {
    this.#figures = figures
  }

  /** Empty where nothing is on record, or nothing keeps records. `now`: milliseconds since 1970. */
  async of(group: FigureGroup, now: number): Promise<readonly string[]> {
    const key = JSON.stringify([group, visibleProjects()])
    const kept = this.#kept.get(key)
    if (kept !== undefined && now - kept.at < KEPT_MS && now >= kept.at) return kept.names
    // a page without suggestions is better than none
    const names = this.#read(group, now).catch(() => [])
    this.#kept.set(key, { at: now, names })
    return names
  }

  async #read(group: FigureGroup, now: number): Promise<readonly string[]> {
    const answer = await this.#figures()?.read({ since: now - WEEK_MS, until: now + 1, step: 'day', group })
    return (answer?.series ?? [])
      .flatMap(({ group: name }) => (name === null || name === '(other)' ? [] : [name]))
      .slice(0, MAX_NAMES)
  }
}
