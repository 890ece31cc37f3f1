import { LRU } from 'tiny-lru'
import { visibleProjects } from '#lib/principal'
import type { FigureGroup, Figures } from './figures.ts'

const WEEK_MS = 7 * 24 * 3_600_000
/** Names change seldom, and live pages are asked for every second. */
const MAX_AGE_MS = 30_000
const MAX_NAMES = 50
const MAX_ENTRIES = 300

interface CachedNames {
  readonly at: number
  readonly names: Promise<readonly string[]>
}

/** Names of agents, models or projects of calls of the last seven days, the most frequent first; what fields of filters suggest. */
export class RecentNames {
  readonly #figures: () => Pick<Figures, 'read'> | undefined
  /** By group and by the projects that whoever asked sees. */
  readonly #cache = new LRU<CachedNames>(MAX_ENTRIES)

  constructor(figures: () => Pick<Figures, 'read'> | undefined) {
    this.#figures = figures
  }

  /** Empty where nothing is on record, or nothing keeps records. `now`: milliseconds since 1970. */
  async of(group: FigureGroup, now: number): Promise<readonly string[]> {
    const key = JSON.stringify([group, visibleProjects()])
    const cached = this.#cache.get(key)
    if (cached !== undefined && now - cached.at < MAX_AGE_MS && now >= cached.at) return cached.names
    // a page without suggestions is better than none
    const names = this.#read(group, now).catch(() => [])
    this.#cache.set(key, { at: now, names })
    return names
  }

  async #read(group: FigureGroup, now: number): Promise<readonly string[]> {
    const answer = await this.#figures()?.read({ since: now - WEEK_MS, until: now + 1, step: 'day', group })
    return (answer?.series ?? [])
      .flatMap(({ group: name }) => (name === null || name === '(other)' ? [] : [name]))
      .slice(0, MAX_NAMES)
  }
}
