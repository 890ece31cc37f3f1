import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GuardError } from 'guard-gateway/core'
import { type BudgetLeft, remainingShare, remainingText } from '#lib/budget'
import type { Input, Io } from '#lib/command'
import { writeError } from '#lib/errors'
import { countMark, type Html, html, instantMark, priceMark } from '#lib/html'
import { displayWidth } from './terminal/columns.ts'

export {
  columnLines,
  cutToWidth,
  displayWidth,
  padToWidth,
  terminalWidth,
  verdictSymbols,
  writesUnicode,
} from './terminal/columns.ts'
export { type Colour, colourOf, paintedWord, painter, showsColours } from './terminal/painter.ts'

export {
  agoText,
  type ListedSession,
  listedId,
  listedTime,
  sessionLines,
  stateField,
  stateToken,
  wholeId,
} from './terminal/session-table.ts'

/** Prints a line that helps and is no result, for people who read along; `--quiet` hides it. */
export const hint = (text: string, { options }: Pick<Input, 'options'>, { err }: Pick<Io, 'err'>): void => {
  if (options.quiet !== true) err.write(`${text}\n`)
}

/** A line broken between words into lines of at most `width` columns. What continues it is indented by `hang`; by two more than the line itself if absent. A word that is wider stays whole. */
export const wrapLine = (line: string, width: number, hang?: number): readonly string[] => {
  if (displayWidth(line) <= width) return [line]
  const [own = ''] = /^ */.exec(line) ?? []
  const indent = ' '.repeat(Math.min(hang ?? own.length + 2, Math.floor(width / 2)))
  const lines = [own]
  let used = own.length
  for (const [, gap = '', word = ''] of line.slice(own.length).matchAll(/( *)([^ ]+)/g)) {
    const wide = gap.length + displayWidth(word)
    const isFirst = lines.length === 1 && used === own.length
    if (isFirst || used + wide <= width) {
      lines.push(`${lines.pop()}${gap}${word}`)
      used += wide
    } else {
      lines.push(indent + word)
      used = indent.length + wide - gap.length
    }
  }
  return lines
}

/** As `wrapLine`, for text of several lines. */
export const wrapText = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n')

/** So much of a budget must be used that it counts as nearly used up. */
const NEAR = 0.8

/** Budgets as a table: whose each is, what is left of it, and when it starts over. `now`: milliseconds since 1970. */
export const budgetTable = (budgets: readonly BudgetLeft[], now: number): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Budget of</th><th scope="col">Rule</th><th scope="col">Used</th><th scope="col">Left</th><th scope="col">Begins anew</th></tr></thead><tbody>
${budgets.map((budget) => budgetRow(budget, now))}</tbody></table>
${zoneText(budgets)}`

const zoneText = (budgets: readonly BudgetLeft[]): Html => {
  const zone = budgets.find(({ time_zone }) => time_zone !== null)?.time_zone
  return html`${zone !== undefined && html`<p class="quiet">Days and other periods are those of ${zone}.</p>`}`
}

const budgetRow = (budget: BudgetLeft, now: number): Html => {
  const { project_id, rule_id, limit, used, resets_at, action } = budget
  const text = remainingText(budget)
  const rule = `/policies/${encodeURIComponent(project_id)}#rule-${rule_id}`
  const colour = remainingShare(budget) === 0 ? 'error' : remainingShare(budget) <= 1 - NEAR ? 'warning' : ''
  return html`<tr data-row><th scope="row">${ownerText(budget)}</th><td><a href="${rule}">${rule_id}</a> <span class="quiet">${action}</span></td>
<td><span class="status">${amountOf(budget, used)} <span class="quiet">of ${amountOf(budget, limit)}${unitText(budget)}</span> <meter max="${limit}" high="${limit * NEAR}" optimum="0" value="${Math.min(used, limit)}" aria-label="used of ${rule_id}"></meter></span></td>
<td><span class="${colour}">${text}</span></td><td>${resets_at !== null && instantMark(Date.parse(resets_at), now)}</td></tr>
`
}

const ownerText = ({ scope, project_id, agent_id, session_id }: BudgetLeft): Html => {
  if (scope === 'project') return html`project ${project_id}`
  if (scope !== 'agent') return html`${scope === 'thread' ? 'conversation of the session' : 'session'} ${session_id}`
  return agent_id === null
    ? html`requests without an agent <span class="quiet">in ${project_id}</span>`
    : html`agent ${agent_id} <span class="quiet">in ${project_id}</span>`
}

const amountOf = ({ unit }: BudgetLeft, amount: number): Html =>
  unit === 'cost_micro' ? priceMark(amount) : countMark(amount)

const unitText = ({ unit, currency }: BudgetLeft): string => ` ${unit === 'cost_micro' ? (currency ?? 'cost') : unit}`

/** Opens a page of the gateway, and prints its address for use without a browser. */
export const openInBrowser = (address: string, path: string, { options }: Pick<Input, 'options'>, io: Io): number => {
  const url = address + path
  io.out.write(options.json === true ? `${JSON.stringify({ url })}\n` : `${url}\n`)
  showInBrowser(url, io)
  return 0
}

/** Opens a web address in the browser, where there is one. No shell reads it. */
export const showInBrowser = (url: string, io: Pick<Io, 'env'>): void => {
  if (!/^https?:\/\/[!-~]+$/.test(url)) return
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  // without a display there is no browser to open
  const hasDisplay = process.platform !== 'linux' || (io.env.DISPLAY ?? io.env.WAYLAND_DISPLAY) !== undefined
  if (command !== undefined && hasDisplay && !io.env.CI) {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  }
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // "start" of cmd would take a "&" in the address for the end of a command
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Where a command puts what comes in pieces: among its results, or in the file of `--output`, which appears under its
 * name only when it is complete. Throws USAGE for a file that exists already, unless `--force` is given.
 */
export const outputOf = async (
  { output, force }: Input['options'],
  io: Io,
): Promise<(content: Readable) => Promise<void>> => {
  if (output === undefined) return (content) => written(content, io.out)
  const file = resolve(io.cwd, String(output))
  if (force !== true && existsSync(file))
    throw new GuardError('USAGE', `${String(output)} exists already. Name another file, or add --force to replace it.`)
  return (content) => writeWhole(content, file)
}

/** Writes as fast as the reader takes the results. A closed pipe, as in `| head`, is no failure. */
const written = async (content: Readable, out: NodeJS.WritableStream): Promise<void> => {
  for await (const chunk of content) {
    if ('destroyed' in out && out.destroyed === true) return
    if (!out.write(chunk)) await once(out, 'drain').catch(ignoreClosedPipe)
  }
}

const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
}

const writeWhole = async (content: Readable, file: string): Promise<void> => {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await pipeline(content, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await rename(unfinished, file)
  } catch (cause) {
    await rm(unfinished, { force: true })
    if (cause instanceof GuardError || (cause as NodeJS.ErrnoException).syscall === undefined) throw cause
    throw writeError(file, cause)
  }
}
