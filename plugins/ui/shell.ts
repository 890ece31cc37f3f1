import type { Gateway, Mode } from 'guard-gateway/core'
import { type Html, html, raw } from '#lib/html'
import { type Page, pageKind, type View } from '#lib/page'
import { currentPrincipal, hasScope, visibleProjects } from '#lib/principal'
import { DEFAULT_PROJECT } from '#lib/session'
import type { Asset } from './assets.ts'

export interface UiOptions {
  readonly version: string
}

/** How many things wait for a person, by navigation entry. */
export type Counts = ReadonlyMap<string, number>

const noCounts: Counts = Object.freeze(new Map())

/** What a page shows around itself. */
export interface Around {
  readonly notice?: Html | string | undefined
  readonly counts?: Counts
  /** Of projects without a policy of their own. */
  readonly mode?: Mode | undefined
}

/** The frame of every page: head, navigation, health warnings and the live status line. */
export class Shell {
  readonly #gateway: Gateway
  readonly #options: UiOptions
  readonly #assets: ReadonlyMap<string, Asset>
  /** Last known counts of navigation entries, of all projects. */
  #counts: Counts = noCounts

  constructor(gateway: Gateway, options: UiOptions, assets: ReadonlyMap<string, Asset>) {
    this.#gateway = gateway
    this.#options = options
    this.#assets = assets
  }

  /** Renders a document. `path` is the requested one; its navigation entry is marked. */
  document(view: View, path: string, { notice, counts = this.#lastCounts(), mode }: Around = {}): string {
    return `<!doctype html>\n${this.#document(view, path, { notice, counts, mode }).text}\n`
  }

  /** Renders a document for somebody who is not known: without navigation, and without anything about this gateway. */
  bare(view: View): string {
    return `<!doctype html>\n${bareDocument(view, this.#styles(), this.#url('icon.svg')).text}\n`
  }

  /** Counts of navigation entries, for whoever asks. An entry that fails retains its last one, if it may be told. */
  async count(): Promise<Counts> {
    const counts = new Map(this.#lastCounts())
    await Promise.all(
      this.#entries().map(async ({ id, nav }) => {
        if (nav?.count === undefined) return
        try {
          counts.set(id, await nav.count())
        } catch (error) {
          this.#gateway.fault(error, `count:${id}`)
        }
      }),
    )
    if (visibleProjects() === null) this.#counts = counts
    return counts
  }

  /** The mode of projects without a policy of their own; undefined where nothing judges. */
  async mode(): Promise<Mode | undefined> {
    return (await this.#gateway.service('rules').get()?.of(DEFAULT_PROJECT))?.mode
  }

  /** The counts of an earlier page; none for those who see some projects alone. */
  #lastCounts(): Counts {
    return visibleProjects() === null ? this.#counts : noCounts
  }

  /** The page of the navigation entry that contains a path. */
  above(path: string): Page | undefined {
    return this.#entries().find((page) => liesUnder(path, page))
  }

  #document(view: View, path: string, { notice, counts = noCounts, mode }: Around): Html {
    const waiting = this.#entries().reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0)
    return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${waiting > 0 && `(${waiting}) `}${view.title} · Guard</title>
<script src="${this.#url('settled.js')}"></script>
${this.#styles()}
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
<nav aria-label="Pages">${this.#entries().map((page) => this.#entry(page, path, counts))}</nav>
<form class="find" action="/search" role="search" aria-label="Everything"><input type="search" name="q" aria-label="Id, name or words" placeholder="Id, name or words" maxlength="512"></form>
<p class="state">${mode !== undefined && html`<span id="mode" title="Mode of projects without a policy of their own">${mode}</span> <span class="version">· </span>`}<span class="version">v${this.#options.version}</span> <span id="live" hidden></span> <button type="button" id="notify" aria-pressed="false" title="Notifications of the desktop, also while this page is in the background" hidden>Notify me</button></p>${whoIsIn()}
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

  #styles(): readonly Html[] {
    return [...this.#assets.values()]
      .filter(({ name }) => name.endsWith('.css'))
      .map(({ url }) => html`<link rel="stylesheet" href="${url}">`)
  }

  #entries(): readonly Page[] {
    return [...this.#gateway.registry(pageKind)]
      .filter(({ nav }) => nav !== undefined)
      .sort((a, b) => orderOf(a) - orderOf(b))
  }

  #entry(page: Page, at: string, counts: Counts): Html {
    const { id, path, nav } = page
    const count = counts.get(id) ?? 0
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

/** Who is logged in, with what ends it; nothing on loopback, where nobody logs in. */
const whoIsIn = () => {
  const principal = currentPrincipal()
  if (principal === undefined || principal.kind === 'loopback') return false
  const { name, kind, projects } = principal
  return html`<div class="who">${hasScope(principal, 'admin') && html`<a href="/keys">Keys</a><a href="/audit">Audit</a>`}<span><bdi>${name}</bdi>${projects !== null && html` <span class="quiet">sees ${projects.join(', ')}</span>`}</span>${kind === 'session' && html`<form method="post" action="/logout"><button>Log out</button></form>`}</div>`
}

/** A document of a heading and little more, which tells nothing of this gateway. It needs no script. */
const bareDocument = (view: View, styles: readonly Html[], icon: string): Html => html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · Guard</title>
${styles}
<link rel="icon" href="${icon}" type="image/svg+xml">
</head>
<body>
<header class="bar"><span class="mark">Guard</span></header>
<main id="main" tabindex="-1">
${view.main}
</main>
</body>
</html>`

/** Keyboard shortcuts in display order; those of pages precede the last one. */
const keys = [
  ['/', 'search'],
  ['j k', 'next, previous row'],
  ['Enter', 'open the row'],
  ['x', 'select for comparison'],
  ['c', 'compare the selected'],
  ['p', 'pin'],
  ['n b', 'next, previous match'],
  ['[ ]', 'collapse, expand all'],
  ['← →', 'collapse, expand this row'],
  ['+ - 0', 'zoom'],
  ['e', 'next error'],
] as const
const LAST = ['Esc', 'close, clear, leave a field'] as const

/** Dialog with the keyboard shortcuts. A script opens it. */
const keyList = (entries: readonly Page[]): Html => {
  const leading = entries.flatMap(({ nav }) => (nav === undefined ? [] : [[`g ${nav.key}`, nav.label] as const]))
  return html`<dialog id="keys" aria-label="Keys"><dl class="facts">${[...keys, ...leading, LAST].map(
    ([key, what]) => html`<dt>${key}</dt><dd>${what}</dd>`,
  )}</dl></dialog>`
}
