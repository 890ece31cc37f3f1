import { text } from 'node:stream/consumers'
import type { AskStream } from '#lib/command'
import { readJson } from '#lib/json'
import { wholeId } from '#lib/terminal'
import { urlOf } from '../run-address.ts'
import type { ReplayCommandOptions } from './command-options.ts'

/** The trace id that is meant by how it begins, or by what a list shows of it; the latter is looked for among the 200 newest runs. Throws USAGE if several are meant. */
export const runId = (ask: AskStream, typed = ''): Promise<string> =>
  wholeId(typed, () => {
    if (typed.includes('…')) return traceIds(ask, {})
    // a storage without search knows the newest runs alone
    return traceIds(ask, { q: `${typed}*` }).catch(() => traceIds(ask, {}))
  })

const traceIds = async (ask: AskStream, filter: Readonly<Record<string, string>>): Promise<readonly string[]> => {
  const query = new URLSearchParams({ limit: '200', ...filter })
  const { runs } = readJson(await text(await ask('GET', `/api/v1/runs?${query}`))) as {
    readonly runs: readonly { readonly trace_id: string }[]
  }
  return runs.map(({ trace_id }) => trace_id)
}

/** Path of a run in the interface. */
export const runPath = async (ask: AskStream, typed: string | undefined): Promise<string> =>
  `/api/v1/runs/${encodeURIComponent(await runId(ask, typed))}`

/** Path of the page of a run. */
export const runPage = ({ asking }: ReplayCommandOptions, [typed]: readonly string[]): Promise<string> =>
  asking(async (ask) => urlOf(await runId(ask, typed)))

/** Path of the page that compares two runs. */
export const comparePage = ({ asking }: ReplayCommandOptions, [left, right]: readonly string[]): Promise<string> =>
  asking(async (ask) => {
    const query = new URLSearchParams({ left: await runId(ask, left), right: await runId(ask, right) })
    return `/replay/compare?${query}`
  })
