import type { Plugin } from 'guard-gateway/core'
import { type AskJson, commandKind, type Input, type Io } from '#lib/command'
import { writeJson } from '#lib/json'
import { hint, terminalWidth } from '#lib/terminal'
import type { Report } from './flags/report.ts'

export interface ReportCommandOptions {
  /** Gives `work` the running gateway, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

/** Gives the command line `report`. */
export const reportCommands = ({ asking }: ReportCommandOptions): Plugin => ({
  name: 'report-commands',
  requires: ['recorder'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'report',
      summary: 'say what loops cost after they were flagged, by rule and session',
      options: {
        '--since <time>': 'an age such as 24h, or a time; 7d if not said',
        '--until <time>': 'until then; now if not said',
        '--project <id>': 'of this project',
        '--limit <number>': 'so many sessions at most; 20 if not said',
        '--markdown': 'as Markdown, to paste',
      },
      example: ['guard report', 'guard report --since 30d --project web', 'guard report --markdown > report.md'],
      paged: true,
      page: () => '/#loop-cost',
      route: 'GET /api/v1/report',
      run: (input, io) => asking((ask) => printReport(ask, input, io)).then(() => 0),
    })
  },
})

const filters = { since: 'since', until: 'until', project: 'project_id', limit: 'limit' } as const

const printReport = async (ask: AskJson, input: Input, io: Io): Promise<void> => {
  const query = new URLSearchParams()
  for (const [option, name] of Object.entries(filters)) {
    const value = input.options[option]
    if (value !== undefined) query.set(name, String(value))
  }
  const path = query.size === 0 ? '/api/v1/report' : `/api/v1/report?${query}`
  const report = (await ask('GET', path)) as Report
  for (const line of await linesOf(report, input, io)) io.out.write(`${line}\n`)
  if (report.more > 0 && input.options.json !== true) hint(`${report.more} more sessions: raise --limit.`, input, io)
}

const linesOf = async (report: Report, { options }: Input, { out }: Io): Promise<readonly string[]> => {
  if (options.json === true) return [writeJson(report)]
  const { reportLines, reportMarkdown } = await import('./flags/report-text.ts')
  return options.markdown === true ? reportMarkdown(report) : reportLines(report, terminalWidth(out))
}
