import type { Attributes } from 'guard-gateway/core'
import { type Html, html, raw } from '#lib/html'
import { writeJson } from '#lib/json'

const LONG_CHARS = 400
const LONG_LINES = 10
const PLAIN_URL = /^https?:\/\/[^\s"'<>]+$/i

/** Attributes as a table, the gateway's own last. */
export const attributeTable = (attributes: Attributes): Html => {
  const names = Object.keys(attributes).sort(gatewayLast)
  if (names.length === 0) return html`<p class="quiet">None.</p>`
  return html`<table class="attributes"><tbody>${names.map(
    (name) =>
      html`<tr><th scope="row">${nameMark(name, attributes[name])}</th><td>${valueMark(attributes[name])}</td></tr>`,
  )}</tbody></table>`
}

const MAX_LINKED_CHARS = 256

/** The name of an attribute, as a link to the runs that have the same value. */
const nameMark = (name: string, value: unknown): Html => {
  const isPlain = typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string'
  const text = String(value)
  if (!isPlain || text.length > MAX_LINKED_CHARS || /[=!<>~]/.test(name)) return html`${breakable(name)}`
  const href = `/replay?${new URLSearchParams({ attribute: `${name}=${text}` })}`
  return html`<a href="${href}" title="Runs with this value">${breakable(name)}</a>`
}

/** A dotted name that can break after each dot. */
const breakable = (name: string): readonly Html[] =>
  name.split(/(?<=[._])/).map((word, at) => html`${at > 0 && raw`<wbr>`}${word}`)

const isGateway = (name: string): number => (name.startsWith('guard.') ? 1 : 0)
const gatewayLast = (a: string, b: string): number => isGateway(a) - isGateway(b) || (a < b ? -1 : a > b ? 1 : 0)

/** A value as text, never as markup. A web address is a link; a long text is folded. */
export const valueMark = (value: unknown): Html => {
  const text = typeof value === 'string' ? value : writeJson(value)
  if (PLAIN_URL.test(text) && URL.canParse(text))
    return html`<a href="${text}" rel="noopener noreferrer" target="_blank">${text}</a>`
  if (text.length <= LONG_CHARS && linesIn(text) <= LONG_LINES)
    return typeof value === 'string' ? html`<span class="text">${text}</span>` : html`<code>${text}</code>`
  return html`<details><summary class="text">${startOf(text)}…</summary><pre>${text}</pre></details>`
}

const linesIn = (text: string): number => text.split('\n', LONG_LINES + 1).length

const startOf = (text: string): string =>
  text
    .split('\n', LONG_LINES)
    .join('\n')
    .slice(0, LONG_CHARS / 2)
    .toWellFormed()

/** An id with a copy button. */
export const idMark = (id: string): Html =>
  html`<code>${id}</code> <button class="plain" data-copy="${id}">Copy</button>`
