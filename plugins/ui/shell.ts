import type { Gateway } from 'guard-gateway/core'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import { type Page, pageKind, type View } from 'guard-gateway/lib/page'
import type { Asset } from './assets.ts'
import type { UiOptions } from './index.ts'
import { keyList } from './key-list.ts'

/** The frame of every page: head, navigation, health warnings and the live status line. */
export class Shell {
  readonly #gateway: Gateway
  readonly #options: UiOptions
  readonly #assets: ReadonlyMap<string, Asset>
  /** Last known counts of navigation entries. */
  readonly #counts = new Map<string, number>()

  constructor(gateway: Gateway, options: UiOptions, assets: ReadonlyMap<string, Asset>) {
    this.#gateway = gateway
    this.#options = options
    this.#assets = assets
  }

  /** Renders a document. `path` is the requested one; its navigation entry is marked. */
  document(view: View, path: string, notice?: Html | string): string {
    return `<!doctype html>\n${this.#document(view, path, notice).text}\n`
  }

  /** Updates the counts of navigation entries. An entry that fails retains its count. */
  async count(): Promise<void> {
    await Promise.all(
      this.#entries().map(async ({ id, nav }) => {
        if (nav?.count === undefined) return
        try {
          this.#counts.set(id, await nav.count())
        } catch (error) {
          this.#gateway.fault(error, `count:${id}`)
        }
      }),
    )
  }

  /** The page of the navigation entry that contains a path. */
  above(path: string): Page | undefined {
    return this.#entries().find((page) => liesUnder(path, page))
  }

  #document(view: View, path: string, notice: Html | string | undefined): Html {
    const waiting = this.#waiting()
    return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${waiting > 0 && `(${waiting}) `}${view.title} · Guard</title>
<script src="${this.#url('settled.js')}"></script>
${[...this.#assets.values()]
  .filter(({ name }) => name.endsWith('.css'))
  .map(({ url }) => html`<link rel="stylesheet" href="${url}">`)}
<link rel="icon" href="${this.#url(waiting > 0 ? 'icon-badge.svg' : 'icon.svg')}" type="image/svg+xml">
<script type="module" src="${this.#url('app.js')}"></script>
${
  view.refresh_seconds !== undefined &&
  html`<noscript><meta http-equiv="refresh" content="${view.refresh_seconds}"></noscript>`
}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="mark" href="/">Guard</a>
<nav aria-label="Pages">${this.#entries().map((page) => this.#entry(page, path))}</nav>
<form class="find" action="/search" role="search" aria-label="Everything"><input type="search" name="q" aria-label="Id, name or words" placeholder="Id, name or words" maxlength="512"></form>
<p class="state"><span id="mode" title="Mode of requests that name none">${this.#options.default_mode}</span> <span class="version">· v${this.#options.version}</span> <span id="live" hidden></span> <button type="button" id="notify" aria-pressed="false" title="Notifications of the desktop, also while this page is in the background" hidden>Notify me</button></p>
</header>
${this.#unwell()}<main id="main" tabindex="-1">
${notice !== undefined && (typeof notice === 'string' ? html`<p class="notice" role="status">${notice}</p>` : notice)}${view.main}
</main>
<button id="waits" class="told"></button>
<p id="told" class="told" role="status" aria-live="polite"></p>
${keyList(this.#entries())}
</body>
</html>`
  }

  /** How many things wait for a person. */
  #waiting(): number {
    return this.#entries().reduce((sum, { id }) => sum + (this.#counts.get(id) ?? 0), 0)
  }

  #entries(): readonly Page[] {
    return [...this.#gateway.registry(pageKind)]
      .filter(({ nav }) => nav !== undefined)
      .sort((a, b) => orderOf(a) - orderOf(b))
  }

  #entry(page: Page, at: string): Html {
    const { id, path, nav } = page
    const count = this.#counts.get(id) ?? 0
    return html`<a href="${path}" data-key="${nav?.key}"${liesUnder(at, page) ? raw` aria-current="page"` : ''}>${nav?.label}${
      count > 0 && html` <span class="count">${count}</span>`
    }</a>`
  }

  /** A warning bar for each section whose health is not ok. */
  #unwell(): Html {
    const state = this.#gateway.storage.state
    const parts = [...this.#gateway.health].flatMap(([name, tell]) => {
      try {
        const found = tell()
        return troubleOf(name, found)
      } catch {
        return [`${name}: unknown`]
      }
    })
    if (state !== 'ok') parts.unshift(`storage: ${state}`)
    return html`${parts.map((text) => html`<p class="unwell" role="alert">${text}</p>`)}`
  }

  #url(name: string): string {
    return this.#assets.get(name)?.url ?? ''
  }
}

const orderOf = ({ nav }: Page): number => nav?.order ?? 0
const liesUnder = (at: string, { path }: Page): boolean => at === path || at.startsWith(`${path}/`)

/** Warning for a health section with a status other than ok. */
const troubleOf = (name: string, section: unknown): readonly string[] => {
  if (typeof section !== 'object' || section === null) return []
  const { status, error } = section as { readonly status?: unknown; readonly error?: unknown }
  if (status === undefined || status === 'ok') return []
  const message = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : undefined
  return [`${name}: ${String(status)}${typeof message === 'string' ? `. ${message}` : ''}`]
}
