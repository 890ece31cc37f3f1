import type { Static } from 'typebox'
import type { CommandContext } from '#lib/command'
import { writeJson } from '#lib/json'
import { columnLines, hint, listedTime, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { auditPage } from './schemas.ts'

const filters = ['since', 'actor', 'action', 'limit', 'cursor'] as const

/** Prints a page of who did what, one a line. */
export const listAudit = async ({ ask, input, io, now }: CommandContext): Promise<void> => {
  const query = new URLSearchParams()
  for (const name of filters) if (input.options[name] !== undefined) query.set(name, String(input.options[name]))
  if (input.options.project !== undefined) query.set('project_id', String(input.options.project))
  const page = (await ask('GET', `/api/v1/audit?${query}`)) as Static<typeof auditPage>
  if (input.options.json === true) return void io.out.write(`${writeJson(page)}\n`)
  if (page.entries.length === 0) io.err.write('There are no such records.\n')
  else {
    const width = terminalWidth(io.out)
    const rows = page.entries.map(({ at, actor, action, subject, project_id, details }) => [
      listedTime(Date.parse(at), now, width !== undefined),
      terminalLine(actor),
      action,
      terminalLine(subject ?? ''),
      terminalLine(project_id ?? ''),
      terminalLine(Object.keys(details).length === 0 ? '' : writeJson(details)),
    ])
    const head = ['at', 'who', 'did', 'to', 'project', 'details']
    const free = new Map([[5, 12]])
    for (const line of columnLines([head, ...rows], new Set(), { width, spare: [4], free })) io.out.write(`${line}\n`)
  }
  if (page.next_cursor !== null) hint(`more: --cursor ${page.next_cursor}`, input, io)
}
