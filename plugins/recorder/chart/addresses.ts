import type { ChartOptions } from 'guard-gateway/lib/page'
import type { Period } from './period.ts'
import { isoMinute } from './time-labels.ts'

/** A longer filter is not repeated in a link for each bar. */
const MOST_CHARS = 400
/** What belongs to one page of a list, or to the charts. */
const DROPPED = ['cursor', 'back', 'notice', 'about', 'range', 'since', 'until']

/** Addresses that the charts lead to. */
export interface Addresses {
  /** The list of runs, with the filters kept and without times. */
  readonly list: string
  /** The list from the beginning of a bar to its end; undefined if the filter is too long. */
  bar(bar: number): string | undefined
  /** This page, changed. */
  here(changes: Readonly<Record<string, string | null>>): string
}

export const addressesOf = ({ ask, project_id, agent_id, isList = false }: ChartOptions, period: Period): Addresses => {
  const [path = '/'] = ask.url.split('?', 1)
  const kept = isList
    ? without(ask.query, DROPPED)
    : new URLSearchParams({
        ...(project_id === undefined ? {} : { project_id }),
        ...(agent_id === undefined ? {} : { agent: agent_id }),
      })
  const list = addressOf('/replay', kept)
  const start = `${list}${kept.size === 0 ? '?' : '&'}since=`
  return {
    list,
    bar: (bar) => {
      if (list.length > MOST_CHARS) return undefined
      const at = period.since + bar * period.step_ms
      return `${start}${isoMinute(at)}&until=${isoMinute(at + period.step_ms)}`
    },
    here: (changes) => {
      const next = without(ask.query, ['cursor', 'back', 'notice', 'about', ...Object.keys(changes)])
      for (const [name, value] of Object.entries(changes)) if (value !== null) next.set(name, value)
      return addressOf(path, next)
    },
  }
}

const without = (query: URLSearchParams, names: readonly string[]): URLSearchParams =>
  new URLSearchParams([...query].filter(([name, value]) => value !== '' && !names.includes(name)))

const addressOf = (path: string, query: URLSearchParams): string => (query.size === 0 ? path : `${path}?${query}`)
