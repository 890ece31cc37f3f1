import { type Html, html } from 'guard-gateway/lib/html'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'

/** Characters of all values together that a line shows; of one that is cut, and how many members then. */
const LINE_CHARS = 160
const CUT_CHARS = 60
const CUT_MEMBERS = 4

/** The arguments of a call on one line. */
export interface ArgumentSummary {
  readonly markup: Html
  /** Nothing is left out. */
  readonly isWhole: boolean
}

/** The members of arguments, given as JSON, each with its name; long values are cut. Null: they are not kept any more. */
export const summaryOf = (json: string | null): ArgumentSummary => {
  if (json === null) return { markup: html`<span class="quiet">Arguments are no longer kept.</span>`, isWhole: false }
  const members = membersOf(json)
  if (members.length === 0) return { markup: html`<span class="quiet">without arguments</span>`, isWhole: true }
  const chars = members.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const isWhole = chars <= LINE_CHARS && members.every(([, value]) => isLine(value))
  const shown = isWhole ? members : members.slice(0, CUT_MEMBERS)
  const left = members.length - shown.length
  return {
    markup: html`${shown.map(([name, value], at) => html`${at > 0 && ' '}${name !== '' && html`<span class="quiet">${name}</span> `}${valueMark(value, isWhole)}`)}${left > 0 && html` <span class="quiet">and ${left} more</span>`}`,
    isWhole,
  }
}

const isLine = (text: string): boolean => !/[\n\r\u2028\u2029]/.test(text)

const valueMark = (value: string, isWhole: boolean): Html => {
  if (isWhole || (value.length <= CUT_CHARS && isLine(value))) return html`<code>${value}</code>`
  const [first = ''] = value.split(/[\n\r\u2028\u2029]/, 1)
  return html`<code>${first.slice(0, CUT_CHARS).toWellFormed()}…</code> <span class="quiet">${sizeText(value)}</span>`
}

const sizeText = (value: string): string => {
  const lines = value.split('\n').length
  return lines > 1 ? `${lines} lines` : `${value.length} characters`
}

/** Names and values; of what is no object, one without a name. */
const membersOf = (json: string): readonly (readonly [name: string, value: string])[] => {
  try {
    const args: unknown = readJson(json)
    if (!isJsonObject(args)) return [['', json]]
    return Object.entries(args).map(([name, value]) => [name, textOf(value)])
  } catch {
    return [['', json]]
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
