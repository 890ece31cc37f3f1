import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorBody, type Gateway, GuardError, type Plugin, stages, statusOf } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import {
  type Ask,
  type FieldFault,
  type Form,
  formKind,
  type Page,
  type Panel,
  pageKind,
  panelKind,
  type Waiting,
  type WaitingSource,
  waitingSourceKind,
} from '#lib/page'
import { currentPrincipal } from '#lib/principal'
import { assetRoutes, loadAssets } from './assets.ts'
import { nowPage } from './now.ts'
import { searchForm, searchPage } from './search.ts'
import { Shell, type UiOptions } from './shell.ts'

/** Beyond loopback somebody may be told of an error before anybody knows who it is. */
const isStranger = (gateway: Gateway): boolean =>
  gateway.service('http').get()?.isBeyondLoopback === true && currentPrincipal() === undefined

/** The shell of all pages: navigation, assets, forms, errors and the start page. All other pages belong to features. */
export const ui = (options: UiOptions): Plugin => ({
  name: 'ui',
  requires: ['http'],
  apply(gateway: Gateway) {
    gateway.registry(pageKind).add(nowPage(gateway))
    gateway.registry(pageKind).add(searchPage(gateway))
    gateway.registry(panelKind).add(needsPanel(gateway))
    gateway.hooks.http.tapPromise({ name: 'ui', stage: stages.http.pages }, async (app) => {
      const assets = await loadAssets()
      const shell = new Shell(gateway, options, assets)
      gateway.service('documents').provide({
        error: (error, request) => errorPage(shell, error, request, isStranger(gateway)),
        bare: (view) => shell.bare(view),
        page: (page, ask) => documentOf(shell, page, ask),
      })
      await app.register(async (scope) => {
        assetRoutes(scope, assets)
        pageRoutes(scope, gateway, shell)
        formRoutes(scope, gateway, shell)
      })
    })
  },
})

/** All that waits for a person, a line each; first on the start page, after its figures. */
const needsPanel = (gateway: Gateway): Panel => ({
  id: 'ui/needs',
  order: 0,
  render: async (ask) => {
    const sources = [...gateway.registry(waitingSourceKind)].sort((one, other) => one.order - other.order)
    const found = await Promise.all(sources.map((source) => waitingOf(gateway, source, ask)))
    const total = found.reduce((sum, waiting) => sum + waiting.total, 0)
    if (total === 0) return undefined
    return html`<h2 id="needs">Needs you (${total})</h2>
<ul class="needs" aria-labelledby="needs">${found.flatMap(({ lines }) =>
      lines.map(
        (line) => html`${line}
`,
      ),
    )}</ul>
${found.map(({ note }) => note !== undefined && html`<p class="quiet">${note}</p>`)}`
  },
})

/** A source that throws hides nothing of the others. */
const waitingOf = async (gateway: Gateway, source: WaitingSource, ask: Ask): Promise<Waiting> => {
  try {
    return await source.waiting(ask)
  } catch (error) {
    gateway.fault(error, `waiting:${source.id}`)
    return { lines: [], total: 0 }
  }
}

/** A request that failed. */
interface Failed {
  /** Path and query of the request. */
  readonly url: string
  readonly request_id: string
}

const headings: Readonly<Record<number, string>> = {
  401: 'Not known',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not possible this way',
  409: 'Something has changed meanwhile',
  422: 'Not taken',
  500: 'Something went wrong inside Guard',
  503: 'Not available now',
}

/** Error page with the request, the error and links. */
const errorPage = (shell: Shell, error: GuardError, { url, request_id }: Failed, isStranger = false): string => {
  const status = statusOf(error)
  const { code, message } = errorBody(error)
  const title = headings[status] ?? 'Not possible'
  if (isStranger) {
    const known = html`<h1>${title}</h1>
<p>${message}</p>
<p class="quiet"><code>${code}</code> · <code>${request_id}</code></p>
<p><a href="/login">Log in</a></p>`
    return shell.bare({ title, main: known })
  }
  const { path, nav } = shell.above(pathOf(url)) ?? {}
  const main = html`<h1>${title}</h1>
<p>${message}</p>
<dl class="facts">
<dt>Asked for</dt><dd><code>${url}</code></dd>
<dt>Code</dt><dd><code>${code}</code> (${status})</dd>
<dt>Request</dt><dd><code>${request_id}</code></dd>
</dl>
${searchForm(status === 404 ? lastPart(pathOf(url)) : '')}
<p>${nav !== undefined && path !== '/' && html`<a href="${path}">${nav.label}</a> · `}<a href="/">What is going on now</a></p>`
  return shell.document({ title, main, status }, pathOf(url))
}

/** The last part of a path: of a page that is not there mostly an id. */
const lastPart = (path: string): string => {
  const part = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const MAX_BYTES = 1_048_576
const MAX_FIELDS = 2_000

type Params = Readonly<Record<string, string>>

/** Handles posts of all registered forms. Success redirects with 303. A rejected form renders its page again with the typed values, under an address that also works for GET. */
const formRoutes = (app: FastifyInstance, gateway: Gateway, shell: Shell): void => {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_BYTES },
      (_request, body, done) => {
        const fields = new URLSearchParams(String(body))
        if (fields.size > MAX_FIELDS) done(new GuardError('BODY_TOO_LARGE'))
        else done(null, fields)
      },
    )
    for (const form of gateway.registry(formKind)) {
      const schema = { hide: true } as object
      scope.post(form.path, { schema, config: configOf(form) }, (request, reply) =>
        take(gateway, shell, form, request, reply),
      )
      scope.get(form.path, { schema }, ({ params }, reply) =>
        reply.redirect(fillPattern(form.page, params as Params), 303),
      )
    }
  })
}

const configOf = ({ scope }: Form) => (scope === undefined ? {} : { scope })

const take = async (
  gateway: Gateway,
  shell: Shell,
  form: Form,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  const params = request.params as Params
  const back = returnTo(fields.get('return_to')) ?? fillPattern(form.page, params)
  const sent = await submit(form, { params, fields, now: gateway.clock.now() })
  if ('faults' in sent) return rerenderForm(gateway, shell, form, request, reply, back, fields, sent.faults)
  if ('view' in sent) {
    const page = { id: form.id, path: form.page, render: async () => sent.view }
    return sendPage(shell, page, reply, { ...pageRequest(gateway, request), url: back })
  }
  const target = returnTo(sent.location ?? null) ?? withRowAnchor(back, sent.at, form, params)
  return reply.redirect(withNotice(target, sent.notice, sent.about), 303)
}

/** Redirect target after success: a path of this server that is valid in a header, or undefined. */
const returnTo = (target: string | null): string | undefined => {
  if (target === null || !/^\/(?![/\\])/.test(target) || /[^!-~]|\\/.test(target)) return undefined
  return target
}

/** Adds a row anchor to a list; the page of the item itself needs none. */
const withRowAnchor = (back: string, at: string | undefined, { page }: Form, params: Params): string => {
  const isSamePage = page.includes(':') && pathOf(back) === fillPattern(page, params)
  return at === undefined || isSamePage || back.includes('#') ? back : `${back}#${encodeURI(at)}`
}

/** Fills the parameters of a path pattern. */
const fillPattern = (pattern: string, params: Params): string =>
  pattern.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))

/** Submits the form. An error that names a field becomes a field error. */
const submit = async (form: Form, posted: Parameters<Form['submit']>[0]) => {
  try {
    return await form.submit(posted)
  } catch (error) {
    if (!(error instanceof GuardError) || statusOf(error) !== 400) throw error
    return { faults: [{ field: (error.place.path ?? '').replace(/^\//, ''), message: error.message }] }
  }
}

/** Renders the page of a form again, with the typed values and the errors. */
const rerenderForm = (
  gateway: Gateway,
  shell: Shell,
  form: Form,
  request: FastifyRequest,
  reply: FastifyReply,
  back: string,
  fields: URLSearchParams,
  faults: readonly FieldFault[],
): Promise<FastifyReply> => {
  const page = [...gateway.registry(pageKind)].find(({ path }) => path === form.page)
  if (page === undefined) throw new GuardError('NOT_FOUND')
  const query = new URLSearchParams(back.split('?', 2)[1] ?? '')
  const ask = { ...pageRequest(gateway, request), query, url: back, refused: { form: form.id, fields, faults } }
  return sendPage(shell, page, reply, ask)
}

/** `HEAD /` is no page, because agents probe the gateway with it. */
const routeOptions = ({ id, path, scope }: Page) => ({
  config: scope === undefined ? {} : { scope },
  schema: { summary: `Page: ${id}`, hide: true } as object,
  ...(path === '/' ? { exposeHeadRoute: false } : {}),
})

/** Serves every registered page. A trailing slash redirects. */
const pageRoutes = (app: FastifyInstance, gateway: Gateway, shell: Shell): void => {
  for (const page of gateway.registry(pageKind)) {
    if (page.path !== '/')
      app.get(`${page.path}/`, routeOptions(page), (request, reply) =>
        reply.redirect(request.url.replace(/\/(?=\?|$)/, ''), 308),
      )
    app.get(page.path, routeOptions(page), async (request, reply) =>
      sendPage(shell, page, reply, pageRequest(gateway, request), await noticeOf(gateway, request.url)),
    )
  }
}

/** Renders a page as a document; 422 if it contains a rejected form. */
const documentOf = async (
  shell: Shell,
  page: Page,
  ask: Ask,
  notice?: Html | string,
): Promise<{ readonly status: number; readonly text: string; readonly location: string | undefined }> => {
  const [view, counts, mode] = await Promise.all([page.render(ask), shell.count(), shell.mode()])
  const status = view.status ?? (ask.refused === undefined ? 200 : 422)
  return { status, text: shell.document(view, pathOf(ask.url), { notice, counts, mode }), location: view.location }
}

const sendPage = async (
  shell: Shell,
  page: Page,
  reply: FastifyReply,
  ask: Ask,
  notice?: Html | string,
): Promise<FastifyReply> => {
  const { status, text, location } = await documentOf(shell, page, ask, notice)
  if (location !== undefined) return reply.redirect(location, 303)
  return reply.code(status).type('text/html; charset=utf-8').send(text)
}

/** Notice of a page after a form. The text comes from the form or from stored data, never from the address. */
const noticeOf = async (gateway: Gateway, url: string): Promise<Html | string | undefined> => {
  const query = queryOf(url)
  const code = query.get('notice')
  if (code === null) return undefined
  const form = [...gateway.registry(formKind)].find(({ notices }) => Object.hasOwn(notices, code))
  const about = query.get('about')
  const notice = about === null ? undefined : await form?.tell?.(code, about, { url, now: gateway.clock.now() })
  return notice ?? form?.notices[code]
}

/** Adds a notice code and its subject to `target`; a newer notice replaces an older one. */
const withNotice = (target: string, code: string | undefined, about?: string): string => {
  const [rest = '', fragment] = target.split('#', 2)
  const [path = '', search = ''] = rest.split('?', 2)
  const query = new URLSearchParams(search)
  query.delete('notice')
  query.delete('about')
  if (code !== undefined) query.set('notice', code)
  if (code !== undefined && about !== undefined) query.set('about', about)
  const text = query.toString()
  return `${path}${text === '' ? '' : `?${text}`}${fragment === undefined ? '' : `#${fragment}`}`
}

/** Query of a target; invalid percent signs are literal. */
const queryOf = (url: string): URLSearchParams => {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
}

const pathOf = (url: string): string => url.replace(/[?#].*$/s, '')

const pageRequest = (gateway: Gateway, request: FastifyRequest): Ask => ({
  params: request.params as Readonly<Record<string, string>>,
  query: queryOf(request.url),
  url: request.url,
  origin: `${schemeOf(request)}://${request.host}`,
  now: gateway.clock.now(),
})

/** A proxy's header is trusted, because the result is only displayed to the client itself. */
const schemeOf = ({ protocol, headers }: FastifyRequest): string =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : protocol
